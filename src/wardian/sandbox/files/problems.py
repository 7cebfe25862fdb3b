"""What the kernel refused, as an error that names the guest's path."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from wardian.errors import (
    DirectoryNotEmpty,
    FileDenied,
    FileError,
    FileExists,
    FileMissing,
    FileTooLarge,
    IsADirectory,
    NotADirectory,
    NotARegularFile,
)
from wardian.text import cut, printable

SHOWN = 300
_CLASSES: dict[int, type[FileError]] = {
    errno.ENOENT: FileMissing,
    errno.EEXIST: FileExists,
    errno.ENOTDIR: NotADirectory,
    errno.EISDIR: IsADirectory,
    errno.EACCES: FileDenied,
    errno.EPERM: FileDenied,
    errno.EROFS: FileDenied,
    errno.ENOTEMPTY: DirectoryNotEmpty,
    errno.EFBIG: FileTooLarge,
    errno.ELOOP: NotARegularFile,
}
LINK = "is a symbolic link, which is not followed"


def shown(path: str) -> str:
    """A path as a message has it: the end of a long one."""
    text = printable(path)
    return text if len(text) <= SHOWN else "…" + text[1 - SHOWN :]


def problem(number: int, path: str, why: str | None = None) -> FileError:
    """The error of that number; ``why`` is a clause about the path."""
    why = why if why is not None else os.strerror(number).lower()
    return _made(_CLASSES.get(number, FileError), number, path, why)


def not_regular(path: str, what: str) -> FileError:
    """Something else is there than a file that has contents."""
    return _made(NotARegularFile, errno.EINVAL, path, f"is {what}, not a regular file")


def _made(kind: type[FileError], number: int, path: str, why: str) -> FileError:
    return kind(f"{shown(path)}: {cut(why, SHOWN)}", path=path, number=number)


def explained(error: OSError, path: str) -> FileError:
    """The same failure, of the guest's path."""
    return problem(error.errno or errno.EIO, path, (error.strerror or "it failed").lower())


@contextlib.contextmanager
def about(path: str) -> Iterator[None]:
    """What fails within is about this path. Raises FileError."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise explained(error, path) from None
