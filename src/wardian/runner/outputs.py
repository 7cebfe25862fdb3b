"""What a run wrote into its /work: told, and kept. The guest made it, so no link is followed,
nothing but files, folders and links that stay inside is taken, and no setuid bit. What is looked at
is open already: a name could be given to something else between a look and an act."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.paths.held import Held
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.sandbox.paths.removal import listable, set_mode
from wardian.sandbox.paths.shared_before import remember

MAX_DEPTH = 256
MAX_ENTRIES = 1_000_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NAMED = os.O_PATH | os.O_CLOEXEC
_CHUNK = 1 << 20


class Written(NamedTuple):
    """One thing below /work; ``kind`` is file, folder, link or other."""

    path: str
    kind: str
    size: int = 0
    mode: int = 0
    target: str = ""
    inode: int = 0  # files with the same one are one file under several names


class Kept(NamedTuple):
    """What was taken over, and what was left out, with the reason."""

    files: tuple[Written, ...]
    left_out: tuple[tuple[str, str], ...]


class Destination(NamedTuple):
    """Where files are to be kept: a name in a directory that is open since before the run, and the
    directory of that name, if there was one. ``path`` is for messages."""

    path: str
    parent: Held
    name: str
    there: Held | None

    def make(self) -> None:
        """The directory itself, where nothing was written. Raises SandboxError."""
        try:
            if self.there is None:
                os.mkdir(self.name, dir_fd=self.parent.fd)
        except OSError as error:
            why = (error.strerror or "").lower()
            raise SandboxError(f"{self.path} can't be made: {why}") from None


def written(root: str) -> list[Written]:
    """Everything below ``root``, sorted by path; folders come before what they hold."""
    return sorted(_walk(root))


def check_target(path: str, *, force: bool) -> Destination:
    """Open it, if files may be put there. Raises UsageError; asked before the run, of which a guest
    may change what the name leads to."""
    real = trusted_path(path, "--out")
    if os.path.lexists(real) and not os.path.isdir(real):
        raise UsageError(f"--out: {path} is not a directory")
    if not os.path.isdir(os.path.dirname(real)):
        raise UsageError(f"--out: there is no directory {os.path.dirname(real)}")
    try:
        target = _opened(real)
        full = target.there is not None and bool(os.listdir(target.there.path))
    except OSError as error:
        raise UsageError(f"--out: {path}: {(error.strerror or '').lower()}") from None
    if full and not force:
        raise UsageError(
            f"--out: {path} is not empty",
            hint="name another directory, or add --force to put the files among what is there",
        )
    return target


def _opened(real: str) -> Destination:
    folder, name = os.path.split(real)
    parent = Held(open_directory(folder))
    try:
        there = Held.below(parent.fd, name or ".")
    except FileNotFoundError:
        there = None
    return Destination(real, parent, name or ".", there)


def keep(root: str, target: Destination | str, *, max_bytes: float | None = None) -> Kept:
    """Copy what is below ``root`` to ``target``: all of it or, if it fails, nothing new at all.

    Into a directory that holds something already, each file is replaced by itself. More than
    ``max_bytes`` of data are not copied: a guest may clone what it wrote without any cost.
    Raises SandboxError.
    """
    shown = target if isinstance(target, str) else target.path
    try:
        to = _opened(os.path.realpath(target)) if isinstance(target, str) else target
        if to.there is not None and os.listdir(to.there.path):
            return _copy(root, to.there.path, max_bytes)
        return _keep_new(root, to, max_bytes)
    except OSError as error:
        where = os.fsdecode(error.filename) if error.filename else shown
        raise SandboxError(
            f"the files can't be kept in {shown}: {where}: {(error.strerror or '').lower()}"
        ) from None


def _keep_new(root: str, to: Destination, max_bytes: float | None) -> Kept:
    """Beside it first. A link that a guest put at the name is not followed: renaming fails.

    What is kept is a guest's from then on, as in a place that was shared for writing.
    """
    beside = f"{to.name}.{os.urandom(6).hex()}.partial"
    os.mkdir(beside, 0o700, dir_fd=to.parent.fd)
    made = Held.below(to.parent.fd, beside)
    try:
        kept = _copy(root, made.path, max_bytes)
        set_mode(made.fd, 0o777 & ~_umask())
        os.rename(beside, to.name, src_dir_fd=to.parent.fd, dst_dir_fd=to.parent.fd)
    except BaseException:
        from wardian.sandbox.paths.removal import identity, remove_tree

        remove_tree(f"{to.parent.path}/{beside}", known=identity(made.fd))
        raise
    remember([os.readlink(made.path)])  # where it is now
    return kept


def _copy(root: str, target: str, max_bytes: float | None) -> Kept:
    files: list[Written] = []
    left_out: list[tuple[str, str]] = []
    copied: dict[int, str] = {}
    room = float("inf") if max_bytes is None else max_bytes
    for one in written(root):
        if one.kind == "folder":
            _make_folder(target, one.path)
        elif one.kind == "file":
            if one.inode in copied:
                _link(target, copied[one.inode], one.path)
            else:
                room -= _copy_file(root, target, one, room)
                copied[one.inode] = one.path
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
    waiting, count = [""], 0
    while waiting:
        prefix = waiting.pop()
        try:
            fd = open_folder(root, prefix)
        except OSError:
            continue
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_ENTRIES:
                        raise SandboxError(f"the run wrote more than {MAX_ENTRIES:,} files")
                    path = f"{prefix}/{entry.name}" if prefix else entry.name
                    one = _entry(fd, path, entry.name)
                    if one is None:
                        continue
                    yield one
                    if one.kind == "folder" and one.path.count("/") < MAX_DEPTH:
                        waiting.append(one.path)
        finally:
            os.close(fd)


def _entry(parent: int, path: str, name: str) -> Written | None:
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            return Written(path, "link", target=os.readlink(name, dir_fd=parent))
    except OSError:
        return None  # it went away, or turned into something else
    if stat.S_ISDIR(status.st_mode):
        return Written(path, "folder")
    if stat.S_ISREG(status.st_mode):
        mode = stat.S_IMODE(status.st_mode)
        return Written(path, "file", status.st_size, mode, inode=status.st_ino)
    return Written(path, "other")


def open_folder(root: str, path: str) -> int:
    """A descriptor of a folder that the guest may have closed to us. Raises OSError."""
    try:
        return open_below(root, path)
    except PermissionError:
        pass
    at = os.open(root, _NAMED | os.O_DIRECTORY)
    for part in path.split("/") if path else ():
        try:
            below = os.open(part, _NAMED | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            if os.fstat(below).st_mode & 0o700 != 0o700:
                set_mode(below, 0o700)
        finally:
            os.close(at)
        at = below
    try:
        return listable(at)
    finally:
        os.close(at)


def open_file(parent: int, name: str) -> int:
    """A descriptor of a regular file that the guest may have closed to us. Raises OSError."""
    at = os.open(name, _NAMED | os.O_NOFOLLOW, dir_fd=parent)
    try:
        status = os.fstat(at)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", name)
        if not status.st_mode & 0o400 and status.st_nlink == 1:
            set_mode(at, stat.S_IMODE(status.st_mode) | 0o400)  # no name but this one
        return os.open(f"/proc/self/fd/{at}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    finally:
        os.close(at)


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


def _link(target: str, path: str, other: str) -> None:
    """Another name of a file that was copied: a guest could make thousands of one large file."""
    from_dir, _, name = path.rpartition("/")
    to_dir, _, other_name = other.rpartition("/")
    source, sink = open_below(target, from_dir), open_below(target, to_dir)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        os.link(name, temporary, src_dir_fd=source, dst_dir_fd=sink, follow_symlinks=False)
        os.replace(temporary, other_name, src_dir_fd=sink, dst_dir_fd=sink)
        _unlink(temporary, sink)  # where both were one file already, replacing does nothing
    finally:
        os.close(source)
        os.close(sink)


def _copy_file(root: str, target: str, one: Written, room: float) -> int:
    """The bytes of data that were copied. Raises SandboxError if there are more than ``room``."""
    parent, _, name = one.path.rpartition("/")
    source_dir, target_dir = open_folder(root, parent), open_below(target, parent)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        source = open_file(source_dir, name)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            mode = 0o777 if one.mode & 0o100 else 0o666
            sink = os.open(temporary, flags, mode & ~_umask(), dir_fd=target_dir)
            try:
                copied = _pump(source, sink, room)
            finally:
                os.close(sink)
            os.replace(temporary, name, src_dir_fd=target_dir, dst_dir_fd=target_dir)
            return copied
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


def _pump(source: int, sink: int, room: float) -> int:
    """Holes stay holes: a file that claims a terabyte takes no more room here than there."""
    size, at, copied = os.fstat(source).st_size, 0, 0
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
            copied += sent
            if copied > room:
                raise SandboxError("the run wrote more than its disk limit allows to keep")
    os.ftruncate(sink, size)
    return copied


def _unlink(name: str, fd: int) -> None:
    try:
        os.unlink(name, dir_fd=fd)
    except FileNotFoundError:
        pass


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
