"""Files that wardian itself reads and writes for its caller, by ways that no guest can have laid.

Written ones are there whole or not at all. A link in a place that was shared for writing is
refused, in every part of the path; what lies at the path itself is replaced, never written through.
"""

from __future__ import annotations

import os
import stat

from wardian.descriptors import put_file, write_all
from wardian.errors import InputError, UsageError
from wardian.sandbox.paths.named import (
    open_directory,
    open_real,
    trusted_path,
    untrusted,
    was_shared,
    way_of,
)

# The kernel's own names for what this process has open already: no guest makes links there.
OPEN_ALREADY = ("/dev/fd/", "/dev/std", "/dev/null", "/dev/tty", "/proc/self/fd/")


def write_whole(path: str, data: bytes | str, *, option: str = "-o", mode: int = 0o666) -> None:
    """Write a file, making its directories. Raises OSError, and UsageError for a link."""
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    if path.startswith(OPEN_ALREADY):
        with open(path, "wb") as file:
            file.write(content)
        return
    folder, name = os.path.split(os.path.abspath(path))
    fd = open_directory(trusted_path(folder, option), make=0o777)
    try:
        put_file(fd, name, mode, lambda new: write_all(new, content))
    finally:
        os.close(fd)


def open_to_write(path: str, *, option: str = "-o") -> int:
    """A descriptor of a file that is written while something runs, emptied first. Raises OSError,
    and UsageError for a link, or for what is no file."""
    if path.startswith(OPEN_ALREADY):
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    real = trusted_path(path, option)
    try:
        fd = open_real(real, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o666)
    except OSError as error:
        error.filename = path
        raise
    kind = os.fstat(fd).st_mode
    if stat.S_ISREG(kind):
        os.ftruncate(fd, 0)
    elif not stat.S_ISCHR(kind):  # of which no guest can make one
        os.close(fd)
        raise UsageError(f"{option}: {path} is not a regular file")
    os.set_blocking(fd, True)
    return fd


def read_input(path: str, *, option: str) -> bytes:
    """A file that the caller names to be handed on. Raises OSError, and UsageError for a link."""
    if path.startswith(OPEN_ALREADY):
        with open(path, "rb") as file:
            return file.read()
    real = trusted_path(path, option)
    with open(open_real(real, os.O_RDONLY), "rb") as file:
        return file.read()


def read_decisive(path: str, max_bytes: int, error: type[InputError] = InputError) -> bytes:
    """A file that decides what runs may do. Raises ``error`` if a guest may have written it, or
    laid the way to it; if it is no regular file, or too large, or can't be read."""
    try:
        way = way_of(os.path.abspath(os.path.expanduser(path)))
        why, shared = untrusted(way), was_shared(way.real)
        if why is not None:
            from wardian.text import shell_word

            raise error(why, path=path, hint=f"name the target itself: {shell_word(way.real)}")
        if shared is not None:
            raise error(
                f"lies in {shared}, which was shared for writing: a guest may have changed it",
                path=path,
                hint="review it, and use a copy that lies elsewhere",
            )
        with open(open_real(way.real, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise error("is not a regular file", path=path)
            data = file.read(max_bytes + 1)
    except OSError as problem:
        raise error(f"can't be read: {problem.strerror}", path=path) from None
    if len(data) > max_bytes:
        raise error(f"is larger than {max_bytes} bytes", path=path)
    return data
