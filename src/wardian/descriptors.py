"""Opening what somebody else may exchange meanwhile: by descriptor, one name at a time, no link
followed. The flags stand here once."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Made = TypeVar("Made")

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # to go through, not to list
# O_NONBLOCK: opening a pipe without a writer would wait for ever.
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LISTABLE = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC  # of ".", which is no link


def enter(parent: int, name: str) -> int:
    """A directory in an open one. Raises OSError, also for a link."""
    return os.open(name, FOLDER, dir_fd=parent)


def open_below(start: int, names: Iterable[str], step: Callable[[int, str], int] = enter) -> int:
    """A descriptor of the directory below ``start``, which is closed. ``step`` opens one name in
    an open directory. Raises OSError."""
    fd = start
    for name in names:
        try:
            inner = step(fd, name)
        finally:
            os.close(fd)
        fd = inner
    return fd


def read_regular(fd: int, limit: int = -1) -> bytes | None:
    """What a regular file holds, up to ``limit`` bytes; None for anything else. Closes ``fd``,
    which ``os.fdopen`` does not if it is a directory's. Raises OSError."""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(fd)


def parts_of(path: str) -> list[str]:
    """The names in a path, from the first."""
    return [name for name in path.split("/") if name]


def put_file(parent: int, name: str, mode: int, fill: Callable[[int], Made]) -> Made:
    """A file in an open directory, there whole or not at all, in place of what has its name;
    ``fill`` writes it. Raises OSError, and what ``fill`` raises."""
    temporary = f".{os.urandom(8).hex()}.partial"
    fd = os.open(temporary, NEW_FILE, mode, dir_fd=parent)
    try:
        try:
            made = fill(fd)
        finally:
            os.close(fd)
        os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        unlink_in(parent, temporary)
        raise
    return made


def write_all(fd: int, data: bytes) -> None:
    """Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def unlink_in(parent: int, name: str) -> None:
    """Remove a file's name in an open directory, if it is there. Raises OSError."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        pass
