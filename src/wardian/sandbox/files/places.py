"""Which of a sandbox's directories a path inside lies in, and the way to it: from its descriptor,
one name at a time, no link followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian.descriptors import LISTABLE, PLACE
from wardian.errors import FileError, UsageError
from wardian.sandbox.files.opening import made
from wardian.sandbox.files.problems import LINK, explained, problem, shown
from wardian.sandbox.paths.held import Held
from wardian.sandbox.root.layout import HOME, WORK

TMP = "/tmp"  # noqa: S108 - the guest's
PREFIXES = (WORK, HOME, TMP)

# A descriptor of a directory, which stays its owner's; it may be an O_PATH one. Raises UsageError.
Root = Callable[[], int]


class Location(NamedTuple):
    """A path inside: the directory that it lies in, and the names from there."""

    prefix: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        """As the guest has it."""
        return "/".join((self.prefix, *self.parts))


def roots_of(work: Held | None, directory: Callable[[str], int] | None) -> dict[str, Root]:
    """The directories of a sandbox: ``work`` on the host, and what a living one gives by its path
    inside, as a descriptor that is its own; None for a sandbox that does not live on."""
    roots: dict[str, Root] = {}
    if directory is not None:
        roots = {prefix: _living(directory, prefix) for prefix in PREFIXES}
    if work is not None:
        roots[WORK] = lambda: _open_still(work.fd)
    return roots


def _living(directory: Callable[[str], int], prefix: str) -> Root:
    return lambda: _open_still(directory(prefix))


def _open_still(fd: int) -> int:
    if fd < 0:
        raise UsageError("this sandbox is closed")
    return fd


class Places:
    """The directories that paths may lie in."""

    def __init__(self, roots: Mapping[str, Root]) -> None:
        self._roots = roots

    def find(self, path: str) -> Location:
        """Where a path lies; a relative one counts from /work. Raises UsageError."""
        if not isinstance(path, str) or "\0" in path:
            raise UsageError(f"{path!r} is not a path")
        whole = path if path.startswith("/") else f"{WORK}/{path}"
        names = [name for name in whole.split("/") if name not in ("", ".")]
        if ".." in names:
            raise UsageError(f"{shown(path)!r}: a path can't hold ..")
        for prefix in PREFIXES:
            start = prefix.split("/")[1:]
            if names[: len(start)] == start:
                return Location(prefix, tuple(names[len(start) :]))
        raise UsageError(f"{shown(path)!r} is not a path below {', '.join(PREFIXES)}")

    def find_inner(self, path: str) -> Location:
        """The same of a path that is none of these directories itself. Raises UsageError."""
        found = self.find(path)
        if not found.parts:
            raise UsageError(f"{shown(path)!r} names a directory of the sandbox, nothing in it")
        return found

    def open(self, prefix: str, parts: Sequence[str] = (), *, make: bool = False) -> int:
        """A descriptor, O_PATH, of a directory, the caller's own; with ``make``, what is missing is
        made. Raises FileError and UsageError."""
        fd = self._open_root(prefix)
        for i, name in enumerate(parts):
            try:
                inner = made(fd, name) if make else os.open(name, PLACE, dir_fd=fd)
            except OSError as error:
                path = Location(prefix, tuple(parts[: i + 1])).path
                raise _on_the_way(error, fd, name, path) from None
            finally:
                os.close(fd)
            fd = inner
        return fd

    def open_parent(self, where: Location, *, make: bool = False) -> int:
        """A descriptor of the directory that it is in. Raises FileError and UsageError."""
        return self.open(where.prefix, where.parts[:-1], make=make)

    def open_listable(self, where: Location) -> int:
        """A descriptor to list the directory that it is. Raises FileError and UsageError."""
        fd = self.open(where.prefix, where.parts)
        try:
            return os.open(".", LISTABLE, dir_fd=fd)
        except OSError as error:
            raise explained(error, where.path) from None
        finally:
            os.close(fd)

    def _open_root(self, prefix: str) -> int:
        root = self._roots.get(prefix)
        if root is None:
            raise UsageError(
                f"the files in {prefix} can be had only while a sandbox lives on",
                hint=f"write to {WORK}, which is there between runs",
            )
        try:
            return os.open(".", PLACE, dir_fd=root())
        except OSError as error:
            raise explained(error, prefix) from None


def _on_the_way(error: OSError, parent: int, name: str, path: str) -> FileError:
    """A link in place of a directory is named as what it is."""
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        try:
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        except OSError:
            mode = 0
        return problem(errno.ENOTDIR, path, LINK if stat.S_ISLNK(mode) else "is not a directory")
    return explained(error, path)
