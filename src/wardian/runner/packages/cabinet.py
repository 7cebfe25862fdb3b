"""Directories and records that are wardian's own: made and opened by descriptor, never by a path
that could be a link, and never shared with a sandbox that may write."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wardian.descriptors import FILE, FOLDER, NEW_FILE, read_regular
from wardian.homes import own_directory
from wardian.runner.packages.model import PreparationError, Say

SCHEMA = 3
RECORD_BYTES = 256 << 20
RECORDS = "records"
PREPARING = "preparing"  # held by every preparation, and by whoever removes things alone
_in_use: dict[str, int] = {}


def cache() -> str:
    """Where everything is kept; all of it can be removed at any time."""
    return os.path.join(own_directory("cache"), f"packages-{SCHEMA}")


@contextmanager
def drawer(*names: str) -> Iterator[int]:
    """A descriptor of a directory of the cache, made if it is not there. Raises PreparationError.

    Each step must be a real directory of this user's that nobody else may write to.
    """
    fd = -1
    try:
        os.makedirs(os.path.dirname(cache()), mode=0o700, exist_ok=True)
        fd = os.open(os.path.dirname(cache()), FOLDER)
        for name in (os.path.basename(cache()), *names):
            below = _step(fd, name)
            os.close(fd)
            fd = below
    except OSError as error:
        if fd >= 0:
            os.close(fd)
        raise PreparationError(
            f"environments can't be kept in {cache()}: {(error.strerror or str(error)).lower()}",
            hint="point XDG_CACHE_HOME to a directory that can be written to",
        ) from None
    try:
        yield fd
    finally:
        os.close(fd)


def _step(parent: int, name: str) -> int:
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
    except FileExistsError:
        pass
    fd = os.open(name, FOLDER, dir_fd=parent)
    about = os.fstat(fd)
    if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o022:
        os.close(fd)
        raise OSError(0, f"{name} belongs to another user, or is writable by others")
    return fd


def path_of(*names: str) -> str:
    """The path of something in the cache, for sandboxes that are to see it."""
    return os.path.join(cache(), *names)


def read_record(digest: str, kind: str = RECORDS) -> dict[str, Any] | None:
    """What was recorded when an environment was made, or what ``kind`` keeps; None: not ready."""
    try:
        with drawer(kind) as folder:
            data = read_regular(os.open(f"{digest}.json", FILE, dir_fd=folder), RECORD_BYTES)
            found = json.loads(data or b"")
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None


def write_record(digest: str, about: dict[str, Any], kind: str = RECORDS) -> None:
    """Record that it is ready."""
    with drawer(kind) as folder:
        write_new(folder, f"{digest}.json", json.dumps({"schema": SCHEMA, **about}).encode())


def used(digest: str, kind: str = RECORDS) -> None:
    """Record that it is used now: ``wardian cache`` removes what was not used for long."""
    try:
        os.utime(path_of(kind, f"{digest}.json"), follow_symlinks=False)
    except OSError:
        pass


def forget(digest: str, kind: str = RECORDS) -> None:
    """Delete the record that it is ready."""
    with drawer(kind) as folder:
        try:
            os.unlink(f"{digest}.json", dir_fd=folder)
        except FileNotFoundError:
            pass


def write_new(folder: int, name: str, data: bytes, mode: int = 0o600) -> None:
    """A file, whole or not at all; what stood at the name is replaced, never written through."""
    temporary = f".{os.urandom(8).hex()}"
    fd = os.open(temporary, NEW_FILE, mode, dir_fd=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


def read_new(path: str, limit: int) -> bytes:
    """A file that a sandbox wrote: a regular one of at most ``limit`` bytes, no link at its end.

    Its directory is wardian's own. Raises PreparationError.
    """
    try:
        fd = os.open(path, FILE)
        with os.fdopen(fd, "rb") as file:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode) or about.st_size > limit:
                raise PreparationError(f"{os.path.basename(path)} is not what was to be written")
            return file.read(limit)
    except OSError as error:
        raise PreparationError(
            f"{os.path.basename(path)} was not written: {(error.strerror or '').lower()}"
        ) from None


@contextmanager
def locked(
    name: str,
    say: Say,
    *,
    shared: bool = False,
    why: str = "another run is preparing the same packages",
) -> Iterator[None]:
    """The kernel releases the lock when its holder ends, however it ends."""
    fd = _lock_file(name)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"wardian: {why}; waiting for it")
            fcntl.flock(fd, kind)
        yield
    finally:
        os.close(fd)


def use(digest: str) -> None:
    """Until this process ends, no other process removes the environment."""
    if digest not in _in_use:
        fd = _lock_file(f"use-{digest}")
        fcntl.flock(fd, fcntl.LOCK_SH)
        _in_use[digest] = fd


@contextmanager
def unused(digest: str) -> Iterator[bool]:
    """Whether no process uses the environment; if so, none begins to while this lasts."""
    fd = _lock_file(f"use-{digest}")
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        yield free
    finally:
        os.close(fd)


def _lock_file(name: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with drawer("locks") as folder:
        return os.open(name, flags, 0o600, dir_fd=folder)


def discard(path: str) -> None:
    """Remove a directory that a sandbox filled, or whatever it left at that name."""
    try:
        is_directory = stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    if not is_directory:
        os.unlink(path)
        return
    from wardian.sandbox.paths.removal import remove_tree

    remove_tree(path)


def make_readable(name: str, parent: int) -> None:
    """A new directory that every guest may read, whatever the umask is. Raises OSError."""
    os.mkdir(name, 0o755, dir_fd=parent)
    os.chmod(name, 0o755, dir_fd=parent)  # noqa: S103 - guests of root are other users


def empty(path: str) -> None:
    """Remove what is in a directory of wardian's own."""
    discard(path)
    with drawer(os.path.basename(os.path.dirname(path))) as parent:
        make_readable(os.path.basename(path), parent)
