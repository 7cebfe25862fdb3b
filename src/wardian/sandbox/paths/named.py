"""From a path that a caller names to the real one, through links that can be trusted alone.

A link decides where a path leads. One that a guest may have left must not: it is refused, with the
real target named, so that the caller can name that. What is found is a path free of links, to be
opened without following any (``open_real``, and the launcher): whoever swaps a part of it in
between gets an error, not another place.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable

from wardian.descriptors import LISTABLE, PLACE, open_below, parts_of
from wardian.errors import UsageError
from wardian.sandbox.root.shares import is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

MAX_LINKS = 40


class Link(NamedTuple):
    """A link on the way: where it stands, really, and whose it is."""

    path: str
    owner: int


class ResolvedPath(NamedTuple):
    """Where a path leads, and the links that say so. ``missing``: what is not there yet."""

    real: str
    links: tuple[Link, ...] = ()
    missing: str = ""


def way_of(path: str, *, missing_ok: bool = False) -> ResolvedPath:
    """Walk an absolute path, one name at a time. Raises OSError.

    With ``missing_ok`` what comes after the last directory there is stays as it is named.
    """
    at = "/"
    links: list[Link] = []
    names = parts_of(path)[::-1]
    while names:
        name = names.pop()
        if name in (".", ".."):
            at = os.path.dirname(at) if name == ".." else at
            continue
        here = os.path.join(at, name)
        try:
            found = os.lstat(here)
        except FileNotFoundError:
            rest = [name, *names[::-1]]
            if not missing_ok or ".." in rest:
                raise
            missing = "/".join(rest)
            return ResolvedPath(os.path.join(at, missing), tuple(links), missing)
        if not stat.S_ISLNK(found.st_mode):
            if names and not stat.S_ISDIR(found.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            at = here
            continue
        links.append(Link(here, found.st_uid))
        if len(links) > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(here)
        at = "/" if target.startswith("/") else at
        names += parts_of(target)[::-1]
    return ResolvedPath(at, tuple(links))


def trusted_owners() -> frozenset[int]:
    """Whose links are followed: the system's and the caller's own. Where the system's owner is not
    mapped (in a user namespace), it is whom the root directory seems to belong to."""
    return frozenset((0, os.geteuid(), os.lstat("/").st_uid))


def doubt(
    way: ResolvedPath, owners: Collection[int], shared_above: Callable[[str], str | None]
) -> str | None:
    """Why a way is not to be taken, if it is not: the first link that is not trusted, in a clause.

    ``shared_above`` says which place at or above a real path is or was shared for writing. Pure.
    """
    for link in way.links:
        shared = shared_above(os.path.dirname(link.path))
        if shared is not None:
            return f"leads through the link {link.path}, in {shared}, which was shared for writing"
        if link.owner not in owners:
            return f"leads through the link {link.path}, which another user made"
    return None


def was_shared(path: str) -> str | None:
    """The place at or above a real path that is or was shared for writing, wardian's own aside."""
    from wardian.sandbox.paths.shared_before import shared_above

    if shared_above(path) is None:
        return None
    from wardian.sandbox.paths.own_files import kept_places

    return shared_above(path, kept_places())


def untrusted(way: ResolvedPath, writable: Iterable[str] = ()) -> str | None:
    """``doubt`` on this machine; ``writable`` are what the run itself is to write to."""
    if not way.links:
        return None
    now = tuple(writable)

    def shared(path: str) -> str | None:
        return next((place for place in now if is_below(path, place)), None) or was_shared(path)

    return doubt(way, trusted_owners(), shared)


def trusted_path(path: str, option: str, *, missing_ok: bool = True) -> str:
    """The real path of what the caller named for ``option``; relative to the working directory.

    Raises UsageError if a link that a guest may have left leads there, or links go in a circle.
    """
    absolute = os.path.join(os.getcwd(), os.path.expanduser(path))
    try:
        way = way_of(absolute, missing_ok=missing_ok)
    except OSError as error:
        raise UsageError(f"{option}: {path}: {(error.strerror or '').lower()}") from None
    refuse_untrusted(way, path, option)
    return way.real


def refuse_untrusted(way: ResolvedPath, path: str, option: str) -> None:
    """Raises UsageError if a link that a guest may have left leads there."""
    why = untrusted(way)
    if why is not None:
        from wardian.text import shell_word

        raise UsageError(
            f"{option}: {path} {why}", hint=f"name the target itself: {shell_word(way.real)}"
        )


def open_real(path: str, flags: int, mode: int = 0o600) -> int:
    """A descriptor of a path, no part of which is a link. Raises OSError."""
    parent = _walked(os.path.dirname(path), None)
    try:
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(os.path.basename(path) or ".", flags, mode, dir_fd=parent)
    finally:
        os.close(parent)


def open_directory(path: str, *, make: int | None = None) -> int:
    """A descriptor of a directory, by a way without links; with ``make``, parts that are missing
    are made with that mode. Raises OSError."""
    fd = _walked(path, make)
    try:
        return os.open(".", LISTABLE, dir_fd=fd)
    finally:
        os.close(fd)


def _walked(path: str, make: int | None) -> int:
    def step(parent: int, name: str) -> int:
        try:
            return os.open(name, PLACE, dir_fd=parent)
        except FileNotFoundError:
            if make is None:
                raise
        try:
            os.mkdir(name, make, dir_fd=parent)
        except FileExistsError:
            pass  # another thread or process made it meanwhile
        return os.open(name, PLACE, dir_fd=parent)

    return open_below(os.open("/", PLACE), parts_of(path), step)
