"""What a run wrote into its /work: told, and kept. The guest made it, so no link is followed,
nothing but files, folders and links that stay inside is taken, and no setuid bit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from wardian.errors import SandboxError, UsageError

MAX_DEPTH = 256
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


class Written(NamedTuple):
    """One thing below /work; ``kind`` is file, folder, link or other."""

    path: str
    kind: str
    size: int = 0
    mode: int = 0
    target: str = ""


class Kept(NamedTuple):
    """What was taken over, and what was left out, with the reason."""

    files: tuple[Written, ...]
    left_out: tuple[tuple[str, str], ...]


def written(root: str) -> list[Written]:
    """Everything below ``root``, sorted by path; folders come before what they hold."""
    return sorted(_walk(root))


def check_target(path: str, *, force: bool) -> str:
    """The real path, if files may be put there. Raises UsageError; asked before the run."""
    from wardian.sandbox.named_paths import trusted_path

    target = trusted_path(path, "--out")
    if os.path.lexists(target) and not os.path.isdir(target):
        raise UsageError(f"--out: {path} is not a directory")
    if os.path.isdir(target) and os.listdir(target) and not force:
        raise UsageError(
            f"--out: {path} is not empty",
            hint="name another directory, or add --force to put the files among what is there",
        )
    parent = os.path.dirname(target)
    if not os.path.isdir(parent):
        raise UsageError(f"--out: there is no directory {parent}")
    return target


def keep(root: str, target: str) -> Kept:
    """Copy what is below ``root`` to ``target``: all of it or, if it fails, nothing new at all.

    Into a directory that holds something already, each file is replaced by itself.
    Raises SandboxError.
    """
    try:
        if os.path.isdir(target) and os.listdir(target):
            return _copy(root, target)
        beside = f"{target}.{os.urandom(6).hex()}.partial"
        os.mkdir(beside, 0o700)
        try:
            kept = _copy(root, beside)
            os.chmod(beside, 0o777 & ~_umask())
            os.rename(beside, target)
        except BaseException:
            from wardian.sandbox.files import remove_tree

            remove_tree(beside)
            raise
        return kept
    except OSError as error:
        where = os.fsdecode(error.filename) if error.filename else target
        raise SandboxError(
            f"the files can't be kept in {target}: {where}: {(error.strerror or '').lower()}"
        ) from None


def _copy(root: str, target: str) -> Kept:
    files: list[Written] = []
    left_out: list[tuple[str, str]] = []
    for one in written(root):
        if one.kind == "folder":
            _make_folder(target, one.path)
        elif one.kind == "file":
            _copy_file(root, target, one)
            files.append(one)
        elif one.kind == "link" and stays_inside(one.path, one.target):
            _copy_link(target, one)
            files.append(one)
        else:
            why = "a link that leads out" if one.kind == "link" else "neither file nor folder"
            left_out.append((one.path, why))
    return Kept(tuple(files), tuple(left_out))


def stays_inside(path: str, target: str) -> bool:
    """A link that climbs no higher than the top and then only descends can't lead out, whatever
    other such links it passes through."""
    if target.startswith("/") or not target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    return climbs <= path.count("/") and ".." not in parts[climbs:]


def _walk(root: str) -> Iterator[Written]:
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            fd = open_below(root, prefix)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    one = _entry(fd, f"{prefix}/{entry.name}" if prefix else entry.name, entry.name)
                    yield one
                    if one.kind == "folder" and one.path.count("/") < MAX_DEPTH:
                        waiting.append(one.path)
        finally:
            os.close(fd)


def _entry(parent: int, path: str, name: str) -> Written:
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        if mode & 0o700 != 0o700:
            os.chmod(name, 0o700, dir_fd=parent)
        return Written(path, "folder")
    if stat.S_ISREG(status.st_mode):
        if not mode & 0o400:
            os.chmod(name, mode | 0o400, dir_fd=parent)
        return Written(path, "file", status.st_size, mode)
    if stat.S_ISLNK(status.st_mode):
        return Written(path, "link", target=os.readlink(name, dir_fd=parent))
    return Written(path, "other")


def open_below(root: str, path: str) -> int:
    """A descriptor of the folder, no link passed on the way. Raises OSError."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in path.split("/") if path else ():
        try:
            below = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _make_folder(target: str, path: str) -> None:
    parent, _, name = path.rpartition("/")
    fd = open_below(target, parent)
    try:
        os.mkdir(name, dir_fd=fd)
    except FileExistsError:
        os.close(os.open(name, _DIRECTORY, dir_fd=fd))
    finally:
        os.close(fd)


def _copy_file(root: str, target: str, one: Written) -> None:
    parent, _, name = one.path.rpartition("/")
    source_dir, target_dir = open_below(root, parent), open_below(target, parent)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        source = os.open(name, flags, dir_fd=source_dir)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            mode = 0o777 if one.mode & 0o100 else 0o666
            sink = os.open(temporary, flags, mode & ~_umask(), dir_fd=target_dir)
            try:
                _pump(source, sink)
            finally:
                os.close(sink)
            os.replace(temporary, name, src_dir_fd=target_dir, dst_dir_fd=target_dir)
        except BaseException:
            _unlink(temporary, target_dir)
            raise
        finally:
            os.close(source)
    finally:
        os.close(source_dir)
        os.close(target_dir)


def _copy_link(target: str, one: Written) -> None:
    parent, _, name = one.path.rpartition("/")
    fd = open_below(target, parent)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        os.symlink(one.target, temporary, dir_fd=fd)
        try:
            os.replace(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            _unlink(temporary, fd)
            raise
    finally:
        os.close(fd)


def _pump(source: int, sink: int) -> None:
    """Holes stay holes: a file that claims a terabyte takes no more room here than there."""
    size, at = os.fstat(source).st_size, 0
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
        except OSError:
            break  # ENXIO: nothing but a hole is left
        end = os.lseek(source, at, os.SEEK_HOLE)
        os.lseek(sink, at, os.SEEK_SET)
        while at < end:
            sent = os.sendfile(sink, source, at, min(_CHUNK, end - at))
            if sent == 0:
                break
            at += sent
    os.ftruncate(sink, size)


def _unlink(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except FileNotFoundError:
        pass


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
