"""``Files``: what a caller does with the files of a sandbox. Every path is one inside; a relative
one counts from /work."""

from __future__ import annotations

import builtins
import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping

from wardian.descriptors import write_all
from wardian.errors import FileMissing, NotADirectory, UsageError
from wardian.sandbox.files.opening import create, made, open_regular, put
from wardian.sandbox.files.places import Location, Places, Root, roots_of
from wardian.sandbox.files.problems import about, explained, problem
from wardian.sandbox.files.values import CopyReport, FileInfo, info_of
from wardian.sandbox.files.walking import scan, walk
from wardian.sandbox.paths.held import Held
from wardian.sandbox.paths.removal import remove_tree_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wardian.sandbox.files.watching import Watch

MOST_READ = 64 << 20
MOST_ENTRIES = 100_000
MOST_COPIED = 4 << 30
REMOVE_S = 30.0


class Files:
    """The files in /work, and of a sandbox that lives on in its home and /tmp. No link is followed,
    in any part of a path. Safe to use from several threads.

    Every method raises UsageError for a path that is not below these, FileError (FileMissing,
    FileDenied …) for what the file system refuses.
    """

    def __init__(self, roots: Mapping[str, Root]) -> None:
        """``roots`` as ``places.roots_of`` gives them."""
        self._places = Places(roots)

    @classmethod
    def below(cls, path: str) -> Files:
        """Of a directory of the host as /work. Raises OSError."""
        from wardian.descriptors import LISTABLE

        return cls(roots_of(Held(os.open(path, LISTABLE)), None))

    # Looking

    def exists(self, path: str) -> bool:
        """Whether something has that name: a link counts, whatever it leads to."""
        try:
            self.stat(path)
        except (FileMissing, NotADirectory):
            return False
        return True

    def stat(self, path: str) -> FileInfo:
        """What is there, of a link the link itself."""
        where = self._places.find(path)
        if not where.parts:
            return self._stat_root(where)
        with self._parent(where) as (parent, name):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            target = os.readlink(name, dir_fd=parent) if stat.S_ISLNK(status.st_mode) else ""
            return info_of(where.path, status, target)

    def _stat_root(self, where: Location) -> FileInfo:
        fd = self._places.open(where.prefix)
        try:
            return info_of(where.path, os.fstat(fd))
        finally:
            os.close(fd)

    def list(
        self, path: str = ".", *, recursive: bool = False, max_entries: int = MOST_ENTRIES
    ) -> builtins.list[FileInfo]:
        """What a directory holds, sorted by path; ``recursive``: all below it, without passing a
        link. What can't be read is in the list, and nothing below it. Raises FileTooLarge for more
        than ``max_entries``."""
        where = self._places.find(path)
        fd = self._places.open_listable(where)
        try:
            with about(where.path):
                if not recursive:
                    return scan(fd, where.path, max_entries)
                visits = walk(fd, where.path, max_entries)
                with contextlib.closing(visits):
                    found = [one for seen in visits for one in seen.entries]
                return sorted(found, key=lambda one: one.path.split("/"))
        finally:
            os.close(fd)

    def read(self, path: str, *, max_bytes: int | None = MOST_READ) -> bytes:
        """The bytes of a regular file. Raises FileTooLarge for more than ``max_bytes``; None is no
        bound."""
        _check_bound("max_bytes", max_bytes)
        where = self._places.find_inner(path)
        with self._parent(where) as (parent, name):
            fd = open_regular(parent, name, where.path)
            with open(fd, "rb") as file:
                if max_bytes is None:
                    return file.read()
                content = b"" if os.fstat(fd).st_size > max_bytes else file.read(max_bytes + 1)
                if len(content) > max_bytes or os.fstat(fd).st_size > max_bytes:
                    raise problem(
                        errno.EFBIG, where.path, f"is larger than max_bytes ({max_bytes:,})"
                    )
                return content

    # Changing

    def write(self, path: str, data: bytes | str, *, executable: bool = False) -> None:
        """Write a file, making its directories; it is there whole or not at all. Replaces a file
        or a link that has its name."""
        content = data.encode() if isinstance(data, str) else data
        where = self._places.find_inner(path)
        with self._parent(where, make=True) as (parent, name):
            mode = 0o755 if executable else 0o644
            put(parent, name, mode, lambda fd: write_all(fd, content), replace=True)

    def append(self, path: str, data: bytes | str) -> None:
        """Add to the end of a regular file, which is made if it is not there."""
        content = data.encode() if isinstance(data, str) else data
        where = self._places.find_inner(path)
        with self._parent(where, make=True) as (parent, name):
            try:
                fd = open_regular(parent, name, where.path, os.O_WRONLY | os.O_APPEND)
            except FileNotFoundError:
                put(parent, name, 0o644, lambda fd: write_all(fd, content), replace=False)
                return
            try:
                write_all(fd, content)
            finally:
                os.close(fd)

    def mkdir(self, path: str, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Make a directory. Raises FileExists if something else has its name; without ``exist_ok``
        also for a directory, without ``parents`` FileMissing if what it is to be in is not there.
        """
        where = self._places.find_inner(path)
        with self._parent(where, make=parents) as (parent, name):
            if not exist_ok and _is_there(parent, name):
                raise problem(errno.EEXIST, where.path)
            try:
                os.close(made(parent, name))
            except NotADirectoryError:
                raise problem(errno.EEXIST, where.path, "exists, and is not a directory") from None

    def remove(self, path: str, *, recursive: bool = False, missing_ok: bool = False) -> None:
        """Remove a file, a link, an empty directory, or ``recursive`` a directory with all that is
        in it, but nothing that is mounted there. A guest that keeps filling it is not waited for
        longer than half a minute: then DirectoryNotEmpty is raised."""
        where = self._places.find_inner(path)
        try:
            with self._parent(where) as (parent, name):
                if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=parent)
                elif recursive:
                    remove_tree_in(parent, name, within_s=REMOVE_S)
                else:
                    os.rmdir(name, dir_fd=parent)
        except FileMissing:
            if not missing_ok:
                raise

    def rename(self, path: str, to: str, *, replace: bool = False) -> None:
        """Give something another path in the same directory tree (/work, home or /tmp). Raises
        FileExists if something has it, unless ``replace`` is given."""
        where, target = self._places.find_inner(path), self._places.find_inner(to)
        if where.prefix != target.prefix:
            raise UsageError(
                f"{where.path} can't be renamed to {target.path}: that is another file system",
                hint="read it there, and write it here",
            )
        with self._parent(where) as (parent, name), self._parent(target) as (new, new_name):
            if not replace and _is_there(new, new_name):
                raise problem(errno.EEXIST, target.path)
            try:
                create(
                    new,
                    lambda: os.rename(name, new_name, src_dir_fd=parent, dst_dir_fd=new),
                )
            except FileNotFoundError as error:
                raise explained(error, where.path) from None

    # Between the sandbox and the host

    def copy_in(
        self,
        source: str | os.PathLike[str],
        path: str,
        *,
        replace: bool = False,
        max_bytes: int = MOST_COPIED,
        max_entries: int = MOST_ENTRIES,
    ) -> CopyReport:
        """Copy a file or a directory of the host to this path. A directory that is there already
        gets what the other one holds. Raises FileExists for a file that is there, unless
        ``replace`` is given, and FileTooLarge for more than the bounds.

        Links in a directory are copied as links. A link that a guest may have left on the way to
        ``source`` is refused (UsageError).
        """
        from wardian.sandbox.files import copying

        where = self._places.find(path)
        bounds = copying.CopyBounds(max_bytes, max_entries, replace)
        return copying.copy_in(os.fspath(source), self._places, where, bounds)

    def copy_out(
        self,
        path: str,
        to: str | os.PathLike[str],
        *,
        replace: bool = False,
        max_bytes: int = MOST_COPIED,
        max_entries: int = MOST_ENTRIES,
    ) -> CopyReport:
        """Copy a file or a directory to this path of the host, whose directory must be there. As
        ``copy_in``, but links are left out, and so is what can't be read; the report names it."""
        from wardian.sandbox.files import copying

        where = self._places.find(path)
        bounds = copying.CopyBounds(max_bytes, max_entries, replace)
        return copying.copy_out(self._places, where, os.fspath(to), bounds)

    def watch(self, path: str = ".", *, recursive: bool = False) -> Watch:
        """The changes in a directory from now on, to be iterated over, also with ``async for``,
        until it is closed or the directory is gone; ``recursive``: in all below it, too."""
        from wardian.sandbox.files.watching import Watch

        return Watch(self._places, self._places.find(path), recursive=recursive)

    @contextlib.contextmanager
    def _parent(self, where: Location, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The directory that it is in, open, and its name there. What fails is about the path."""
        parent = self._places.open_parent(where, make=make)
        try:
            with about(where.path):
                yield parent, where.parts[-1]
        finally:
            os.close(parent)


def _is_there(parent: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _check_bound(name: str, value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise UsageError(f"{name} is a number of bytes, or None, not {value!r}")
