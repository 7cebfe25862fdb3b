"""What a run wrote, kept in a directory of the caller's: ``--out``. No link is followed on either
side; what is kept is whole or not there."""

from __future__ import annotations

import os
from typing import NamedTuple

from wardian.descriptors import enter, put_file, unlink_in
from wardian.errors import SandboxError, UsageError
from wardian.runner.outputs import Written, folder_in, open_file, open_folder, stays_inside, written
from wardian.sandbox.paths.held import Held
from wardian.sandbox.paths.named import open_directory, trusted_path
from wardian.sandbox.paths.removal import set_mode
from wardian.sandbox.paths.shared_before import remember

_CHUNK = 1 << 20


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
            raise SandboxError(f"{self.path} can't be created: {why}") from None


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
            return copy_tree(root, to.there.path, max_bytes)
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
        kept = copy_tree(root, made.path, max_bytes)
        set_mode(made.fd, 0o777 & ~_umask())
        os.rename(beside, to.name, src_dir_fd=to.parent.fd, dst_dir_fd=to.parent.fd)
    except BaseException:
        from wardian.sandbox.paths.removal import identity, remove_tree

        remove_tree(f"{to.parent.path}/{beside}", known=identity(made.fd))
        raise
    remember([os.readlink(made.path)])  # where it is now
    return kept


def copy_tree(root: str, target: str, max_bytes: float | None) -> Kept:
    """Files, folders and links that stay inside. Raises OSError and SandboxError."""
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


def _make_folder(target: str, path: str) -> None:
    parent, _, name = path.rpartition("/")
    fd = folder_in(target, parent)
    try:
        os.mkdir(name, dir_fd=fd)
    except FileExistsError:
        os.close(enter(fd, name))
    finally:
        os.close(fd)


def _link(target: str, path: str, other: str) -> None:
    """Another name of a file that was copied: a guest could make thousands of one large file."""
    from_dir, _, name = path.rpartition("/")
    to_dir, _, other_name = other.rpartition("/")
    source, sink = folder_in(target, from_dir), folder_in(target, to_dir)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        os.link(name, temporary, src_dir_fd=source, dst_dir_fd=sink, follow_symlinks=False)
        os.replace(temporary, other_name, src_dir_fd=sink, dst_dir_fd=sink)
        unlink_in(sink, temporary)  # where both were one file already, replacing does nothing
    finally:
        os.close(source)
        os.close(sink)


def _copy_file(root: str, target: str, one: Written, room: float) -> int:
    """The bytes of data that were copied. Raises SandboxError if there are more than ``room``."""
    parent, _, name = one.path.rpartition("/")
    source_dir, target_dir = open_folder(root, parent), folder_in(target, parent)
    mode = (0o777 if one.mode & 0o100 else 0o666) & ~_umask()
    try:
        source = open_file(source_dir, name)
        try:
            return put_file(target_dir, name, mode, lambda sink: _pump(source, sink, room))
        finally:
            os.close(source)
    finally:
        os.close(source_dir)
        os.close(target_dir)


def _copy_link(target: str, one: Written) -> None:
    parent, _, name = one.path.rpartition("/")
    fd = folder_in(target, parent)
    temporary = f".{os.urandom(8).hex()}.partial"
    try:
        os.symlink(one.target, temporary, dir_fd=fd)
        try:
            os.replace(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            unlink_in(fd, temporary)
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


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
