"""Regular files opened and made in an open directory, whoever exchanges them meanwhile: what is
opened is looked at before it is opened for reading or writing."""

from __future__ import annotations

import errno
import os
import stat

from wardian.descriptors import NEW_FILE, PLACE, put_file, unlink_in
from wardian.sandbox.files.problems import LINK, not_regular, problem

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

AT = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC  # whatever it is: opening it does nothing to it
_SAFELY = os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def open_regular(parent: int, name: str, path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file. Raises OSError; FileError for anything else there is."""
    at = os.open(name, AT, dir_fd=parent)
    try:
        mode = os.fstat(at).st_mode
        if stat.S_ISLNK(mode):
            raise problem(errno.ELOOP, path, LINK)
        if stat.S_ISDIR(mode):
            raise problem(errno.EISDIR, path)
        if not stat.S_ISREG(mode):
            raise not_regular(path, _KINDS.get(stat.S_IFMT(mode), "a device"))
        # This link leads to what was looked at, and nowhere else.
        return os.open(f"/proc/self/fd/{at}", flags | _SAFELY)
    finally:
        os.close(at)


def put(
    parent: int,
    name: str,
    mode: int,
    fill: Callable[[int], None],
    *,
    replace: bool,
    guests: bool = True,
) -> None:
    """A new file, the guest's own if it is one of ``guests``, there whole or not at all. Without
    ``replace`` nothing may have its name. Raises OSError, and what ``fill`` raises."""

    def fill_ours(fd: int) -> None:
        if guests:
            give(fd, parent)
        fill(fd)

    create(parent, lambda: _put(parent, name, mode, fill_ours, replace=replace))


def _put(parent: int, name: str, mode: int, fill: Callable[[int], None], *, replace: bool) -> None:
    if replace:
        put_file(parent, name, mode, fill)
        return
    fd = os.open(name, NEW_FILE, mode, dir_fd=parent)
    try:
        fill(fd)
    except BaseException:
        unlink_in(parent, name)
        raise
    finally:
        os.close(fd)


def made(parent: int, name: str, *, guests: bool = True) -> int:
    """A descriptor of the directory, made if it is not there. Raises OSError."""
    try:
        create(parent, lambda: os.mkdir(name, 0o755, dir_fd=parent))
        new = True
    except FileExistsError:
        new = False
    fd = os.open(name, PLACE, dir_fd=parent)
    try:
        # A guest may have put another directory in its place: ours is root's, and empty.
        if new and guests and os.geteuid() == 0 and os.fstat(fd).st_uid == 0 and _is_empty(fd):
            give(fd, parent)
    except BaseException:
        os.close(fd)
        raise
    return fd


def create(parent: int, act: Callable[[], None]) -> None:
    """Make something in an open directory. A file system of the guest's own can't hold what belongs
    to root, who is nobody there: then as its owner. Raises OSError."""
    try:
        act()
        return
    except OSError as error:
        if error.errno != errno.EOVERFLOW or os.geteuid() != 0:
            raise
    from wardian.sandbox.files.acting import acting_as

    owner = os.fstat(parent)
    with acting_as(owner.st_uid, owner.st_gid):
        act()


def _is_empty(fd: int) -> bool:
    inner = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
    try:
        return not os.listdir(inner)
    finally:
        os.close(inner)


def give(fd: int, parent: int) -> None:
    """What root writes for a guest belongs to whom the directory belongs to."""
    owner = os.fstat(parent)
    ours = os.fstat(fd)
    if os.geteuid() != 0 or owner.st_uid in (0, ours.st_uid):
        return
    if stat.S_ISDIR(ours.st_mode):
        os.chown(".", owner.st_uid, owner.st_gid, dir_fd=fd)  # also of one that is open as O_PATH
    else:
        os.fchown(fd, owner.st_uid, owner.st_gid)
