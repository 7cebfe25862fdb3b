"""Removing a directory that a guest filled: by descriptor, following nothing, whatever is in it.

A name may become a link between a look and an act, so no mode is ever changed by name. A directory
is opened first, what was opened is looked at, and the change is made to exactly that. Only
directories are changed, for a file may have another name elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from wardian.descriptors import LISTABLE, PLACE

PATIENCE_S = 5.0  # for a guest that its supervisor's death has ended, and that is not gone yet
_PAUSE_S = 0.02

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

Identity = tuple[int, int]


def set_mode(fd: int, mode: int) -> None:
    """Change the mode of what is open, also as O_PATH: this link leads to it and nowhere else. What
    has it already needs no /proc."""
    if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
        os.chmod(f"/proc/self/fd/{fd}", mode)


def identity(fd: int) -> Identity:
    """Which file it is, whatever name it has."""
    info = os.fstat(fd)
    return info.st_dev, info.st_ino


def listable(at: int) -> int:
    """A descriptor to list and change the directory that is open as ``at``, whatever its mode was.
    Raises OSError."""
    if os.fstat(at).st_mode & 0o700 != 0o700:
        set_mode(at, 0o700)
    return os.open(".", LISTABLE, dir_fd=at)


def remove_tree(
    path: str,
    *,
    known: Identity | None = None,
    if_owned_by: Callable[[int], bool] | None = None,
) -> None:
    """Remove a directory and what is in it: nothing beyond a link, a mount or another file system.

    With ``known``, only if it is still that directory; with ``if_owned_by``, only if that
    holds for its owner. Raises OSError for what stays: an immutable directory, or a mount point.
    """
    at = os.open(path, PLACE)
    try:
        if known is not None and identity(at) != known:
            raise FileNotFoundError(errno.ENOENT, "another directory has its name now", path)
        if if_owned_by is not None and not if_owned_by(os.fstat(at).st_uid):
            raise PermissionError(errno.EPERM, "it belongs to someone else", path)
        root = listable(at)
    finally:
        os.close(at)
    try:
        _Removal(root, path).run()
    finally:
        os.close(root)


def remove_tree_in(parent: int, name: str, *, within_s: float) -> None:
    """The same of a directory in an open one, while a guest may still fill it: that is not waited
    for longer than ``within_s``. Raises OSError."""
    at = os.open(name, PLACE, dir_fd=parent)
    try:
        root = listable(at)
    finally:
        os.close(at)
    try:
        _Removal(root, name, parent, time.monotonic() + within_s).run()
    finally:
        os.close(root)


class _Level:
    """A directory on the way down: which it is, its name in its parent, what is left to enter."""

    __slots__ = ("directories", "known", "name")

    def __init__(self, known: Identity, name: str, directories: list[str]) -> None:
        self.known, self.name, self.directories = known, name, directories


class _Removal:
    """Goes down and up again with one descriptor open at a time, whatever the depth. A parent that
    is not where it was is left to the next round."""

    def __init__(
        self, root: int, path: str, parent: int | None = None, end: float | None = None
    ) -> None:
        self._root, self._path, self._parent, self._end = root, path, parent, end
        self._device, self._mount = os.fstat(root).st_dev, _mount_id(root)
        self._failure: OSError | None = None

    def run(self) -> None:
        """Until it is gone. Raises the first OSError of what could not be removed."""
        deadline: float | None = None
        while True:
            self._failure = None
            if self._round():
                if self._end is not None and time.monotonic() >= self._end:
                    raise OSError(errno.ENOTEMPTY, "a process keeps filling it", self._path)
                deadline = None
                continue
            if self._failure is None:
                try:
                    os.rmdir(self._path, dir_fd=self._parent)
                    return
                except OSError as error:
                    self._failure = error
            now = time.monotonic()
            deadline = deadline or now + PATIENCE_S
            if self._failure.errno != errno.ENOTEMPTY or now >= deadline:
                raise self._failure
            time.sleep(_PAUSE_S)

    def _round(self) -> bool:
        """True if something went away."""
        here = os.dup(self._root)
        try:
            directories, count = self._unlink_files(here)
            above = [_Level(identity(here), "", directories)]
            while above:
                if above[-1].directories:
                    below = self._down(here, above)
                    if below >= 0:
                        os.close(here)
                        here = below
                        above[-1].directories, removed = self._unlink_files(here)
                        count += removed
                    continue
                left = above.pop()
                if not above:
                    break
                parent = os.open("..", LISTABLE, dir_fd=here)
                os.close(here)
                here = parent
                if identity(here) != above[-1].known:
                    break
                count += self._rmdir(here, left.name)
        finally:
            os.close(here)
        return count > 0

    def _down(self, here: int, above: list[_Level]) -> int:
        name = above[-1].directories.pop()
        try:
            below = self._open(here, name)
        except OSError as error:
            self._fail(error, name)
            return -1
        above.append(_Level(identity(below), name, []))
        return below

    def _rmdir(self, parent: int, name: str) -> bool:
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as error:
            return self._fail(error, name)
        return True

    def _open(self, parent: int, name: str) -> int:
        """A directory that is no mount point. Raises OSError."""
        at = os.open(name, PLACE, dir_fd=parent)
        try:
            if os.fstat(at).st_dev != self._device or _mount_id(at) != self._mount:
                raise OSError(errno.EBUSY, "something is mounted on it")
            return listable(at)
        finally:
            os.close(at)

    def _unlink_files(self, fd: int) -> tuple[list[str], int]:
        """The directories that are left, and how much was removed."""
        directories: list[str] = []
        count = 0
        with os.scandir(fd) as entries:
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for name, is_dir in names:
            if is_dir:
                directories.append(name)
                continue
            try:
                os.unlink(name, dir_fd=fd)
                count += 1
            except IsADirectoryError:
                directories.append(name)  # it became one
            except OSError as error:
                self._fail(error, name)
        return directories, count

    def _fail(self, error: OSError, name: str) -> bool:
        if error.errno == errno.ENOENT:
            return False  # someone else was quicker
        self._failure = self._failure or OSError(error.errno, error.strerror, name)
        return False


def _mount_id(fd: int) -> bytes:
    """Which mount it was reached through; a directory may be mounted again inside itself."""
    try:
        info = os.open(f"/proc/self/fdinfo/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""  # then the number of the file system says it alone
    try:
        _, _, after = os.read(info, 512).partition(b"mnt_id:\t")
    finally:
        os.close(info)
    return after.partition(b"\n")[0]
