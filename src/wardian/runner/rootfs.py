"""``--rootfs``: another root file system for the guest, from a directory or from a tar.

A tar is not trusted: ``tar`` opens it in a sandbox that can write to one new directory and sees
nothing else. What comes out is kept by the content of the tar.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wardian.errors import SandboxError
from wardian.homes import own_directory
from wardian.runner.outputs import open_folder
from wardian.sandbox.paths.removal import set_mode

if TYPE_CHECKING:
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.result import Result

ARCHIVE = "/archive"
WORK = "/work"
MAX_ENTRIES = 1_000_000
# The guest gets its own of these, so what an archive has there (devices, mostly) is not wanted.
NOT_WANTED = ("dev", "proc", "sys")
LIMITS = {"time_s": 600.0, "cpu_s": 600.0, "processes": 16, "output_bytes": 1 << 20}


class RootfsError(SandboxError):
    """The root file system can't be used. Nothing was run."""

    def __init__(self, path: str, why: str, *, hint: str | None = None) -> None:
        from wardian.text import printable

        self.path, self.why = path, why
        super().__init__(f"--rootfs {printable(path)}: {why}", hint=hint)


def root_directory(given: str, policy: Policy) -> str:
    """The directory that ``given`` names, or that its content was extracted to, now or before.

    ``policy`` is the run's: its limit of the disk holds for the extraction, and walls that it
    gives up are given up there. Raises RootfsError.
    """
    from wardian.sandbox.paths.named import trusted_path

    path = trusted_path(given, "--rootfs")
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise RootfsError(given, (error.strerror or "it can't be read").lower()) from None
    if stat.S_ISDIR(mode):
        if path == "/":
            raise RootfsError(given, "the host's own root can't be used")
        return path
    if not stat.S_ISREG(mode):
        raise RootfsError(given, "it is neither a directory nor a tar")
    return _extracted(given, path, policy)


# The cache


def _extracted(given: str, path: str, policy: Policy) -> str:
    before = _state(path)
    place = os.path.join(own_directory("cache"), "rootfs", _digest(given, path))
    if os.path.isdir(place):
        return place
    try:
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        with _locked(os.path.dirname(place)):
            if not os.path.isdir(place):
                _extract(given, path, place, before, policy)
    except OSError as error:
        raise RootfsError(
            given,
            f"it can't be extracted to {place}: {(error.strerror or '').lower()}",
            hint="point XDG_CACHE_HOME to a directory that can be written to",
        ) from None
    return place


def _digest(given: str, path: str) -> str:
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RootfsError(given, (error.strerror or "it can't be read").lower()) from None


def _state(path: str) -> tuple[int, int, int]:
    about = os.stat(path)
    return about.st_ino, about.st_size, about.st_mtime_ns


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """One extraction at a time; the kernel releases the lock when its holder ends."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(os.path.join(folder, "lock"), flags, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _extract(
    given: str, path: str, place: str, before: tuple[int, int, int], policy: Policy
) -> None:
    from wardian.sandbox.paths.removal import remove_tree

    partial = f"{place}.partial"
    if os.path.lexists(partial):
        remove_tree(partial)
    os.mkdir(partial, 0o755)
    try:
        _untar(given, path, partial, policy)
        _check(given, partial)
        if _state(path) != before:
            raise RootfsError(given, "it changed while it was read")
        os.rename(partial, place)
    except BaseException:
        remove_tree(partial)
        raise


# Extraction


def _untar(given: str, path: str, target: str, policy: Policy) -> None:
    from wardian.sandbox.paths.own_files import lent
    from wardian.sandbox.policy.policy import Policy as SandboxPolicy
    from wardian.sandbox.policy.policy import Share
    from wardian.sandbox.sandbox import Sandbox

    unwanted = [f"--exclude={start}{name}/*" for name in NOT_WANTED for start in ("", "./", "/")]
    command = ["tar", "-x", "-f", ARCHIVE, "-C", WORK, "--no-same-owner", "--no-same-permissions"]
    command += ["--delay-directory-restore", "--anchored", *unwanted]
    inner = SandboxPolicy.default().with_limits(**LIMITS, disk_bytes=policy.limits.disk_bytes)
    inner = inner._replace(
        work=target, degrade=policy.degrade, shares=(Share(path, ARCHIVE),)
    ).with_env({"LC_ALL": "C"})
    with lent([target]), Sandbox(inner) as sandbox:
        result = sandbox.run(command)
    if result.exit_code != 0:
        raise _failure(given, result, policy)


def _failure(given: str, result: Result, policy: Policy) -> RootfsError:
    from wardian.sandbox.policy.units import format_size
    from wardian.text import printable

    printed = result.stderr.decode("utf-8", "replace")
    limit = policy.limits.disk_bytes
    if limit is not None and (result.reason == "disk limit" or "No space left" in printed):
        return RootfsError(
            given,
            f"it holds more than the limit of {format_size(limit)}",
            hint="raise the limit: --disk …",
        )
    if result.reason == "not found":
        return RootfsError(
            given, "tar is not installed", hint="extract it yourself, and give the directory"
        )
    if "does not look like a tar archive" in printed or "not in gzip format" in printed:
        return RootfsError(given, "it is not a tar")
    if "Unexpected EOF" in printed or "unexpected end" in printed.lower():
        return RootfsError(given, "it is truncated")
    if result.reason != "exited":
        return RootfsError(given, f"it can't be extracted: ended by {result.reason}")
    lines = [line for line in printed.splitlines() if line.strip() and "Exiting" not in line]
    why = printable(lines[-1].removeprefix("tar: ")[:200]) if lines else "tar failed"
    return RootfsError(given, f"it can't be extracted: {why}")


def _is_folder(given: str, parent: int, name: str, path: str) -> bool:
    """Raises RootfsError for what has no place in a root."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISREG(mode):
            wanted = 0o755 if mode & 0o111 else 0o644
            if stat.S_IMODE(mode) != wanted:
                set_mode(fd, wanted)
        elif not stat.S_ISDIR(mode) and not stat.S_ISLNK(mode):
            raise RootfsError(given, f"/{path} is neither a file, a directory nor a link")
        return stat.S_ISDIR(mode)
    finally:
        os.close(fd)


def _check(given: str, root: str) -> None:
    """Files, directories and links only, and modes by which any guest can read them; each is
    changed by descriptor, never by a name that may have become another's."""
    count, waiting = 0, [""]
    while waiting:
        folder = waiting.pop()
        fd = open_folder(root, folder)
        try:
            os.fchmod(fd, 0o755)
            with os.scandir(fd) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_ENTRIES:
                        raise RootfsError(given, f"it holds more than {MAX_ENTRIES:,} files")
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    if _is_folder(given, fd, entry.name, name):
                        waiting.append(name)
        finally:
            os.close(fd)
    if count == 0:
        raise RootfsError(given, "it is empty")
