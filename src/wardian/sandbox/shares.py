"""From the shares a policy names to sources that may be mounted: resolved, checked, ordered."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable

from wardian.errors import ShareError
from wardian.sandbox.policy import Share

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

# The host's own view of itself: sharing any of it would undo the guest's.
KERNEL_TREES = ("/proc", "/sys", "/dev")
# Places inside that wardian makes itself.
MADE_HERE = (
    "/",
    "/bin",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
)


class Source(NamedTuple):
    """A share whose path is free of links, and which exists."""

    path: str
    at: str
    write: bool
    is_dir: bool
    owner: bool = True  # the guest acts as its owner, where the caller is root


def resolve_shares(
    shares: Iterable[Share], *, own_files: tuple[str, ...] | None = None
) -> list[Source]:
    """Sources in mounting order, outer places first. Raises ShareError."""
    own = wardian_files() if own_files is None else own_files
    by_place: dict[str, Source] = {}
    for share in shares:
        source = _resolve(share)
        _refuse_dangerous(source, own)
        _refuse_place(source)
        by_place[source.at] = source  # said twice, the later one counts
    sources = sorted(by_place.values(), key=lambda s: (s.at.count("/"), s.at))
    for source in sources:
        _refuse_ghost(source, sources)
    return _pinned(_protect(sources, own))


def is_below(path: str, root: str) -> bool:
    """True for the root itself and what lies below it: ``/a/b`` is not below ``/a/bc``."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def wardian_files() -> tuple[str, ...]:
    """What runs outside on wardian's behalf: a guest that could write it would get out."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    own = [package]
    if sys.prefix != sys.base_prefix:
        own.append(os.path.realpath(sys.prefix))
    return tuple(own)


def _resolve(share: Share) -> Source:
    try:
        real = os.path.realpath(share.path, strict=True)
        mode = os.stat(real).st_mode
    except OSError as error:
        raise ShareError(share.path, (error.strerror or "it can't be resolved").lower()) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        raise ShareError(share.path, "only directories, files and sockets can be shared")
    wanted = os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)
    if not stat.S_ISSOCK(mode) and not os.access(real, wanted):
        raise ShareError(share.path, "permission denied")
    return Source(real, share.at, share.write, stat.S_ISDIR(mode))


def _refuse_dangerous(source: Source, own: tuple[str, ...]) -> None:
    if source.path == "/":
        raise ShareError("/", "that is the whole host", hint="share the directories it needs")
    for tree in KERNEL_TREES:
        if is_below(source.path, tree):
            raise ShareError(source.path, f"the host's {tree} would let the guest act on the host")
    launcher = os.path.join(own[0], "_bin")
    for root in own if source.write else (launcher,):
        if is_below(source.path, root):
            raise ShareError(source.path, f"it is part of wardian's own files ({root})")


def _refuse_place(source: Source) -> None:
    at = source.at
    if at in MADE_HERE:
        what = (
            "covers /usr, which every program needs"
            if at in ("/", "/usr")
            else "is made by wardian"
        )
        raise ShareError(
            source.path,
            f"{at} inside {what}",
            hint=f"give it another place: {source.path}:/mnt{at.rstrip('/')}",
        )
    for tree in KERNEL_TREES:
        if is_below(at, tree) and not is_below(at, "/dev/shm"):  # noqa: S108
            raise ShareError(source.path, f"nothing can be placed below {tree} inside")


def _refuse_ghost(source: Source, sources: list[Source]) -> None:
    """A place below another share must exist there: wardian creates nothing in what is shared."""
    for outer in sources:
        if outer.at == source.at or not is_below(source.at, outer.at):
            continue
        there = outer.path + source.at[len(outer.at.rstrip("/")) :]
        if not os.path.lexists(there):
            raise ShareError(
                source.path,
                f"its place {source.at} would have to be created in {outer.path}, which is shared",
                hint=f"create {there} first, or give it a place of its own",
            )


def _pinned(sources: list[Source]) -> list[Source]:
    """Directories between a writable share and a place inside it become mounts too, or a guest
    could rename one of them and put something of its own in that place."""
    places = {source.at: source for source in sources}
    for inner in sources:
        for outer in sources:
            if not outer.write or inner.at == outer.at or not is_below(inner.at, outer.at):
                continue
            names = inner.at[len(outer.at.rstrip("/")) + 1 :].split("/")[:-1]
            for depth in range(1, len(names) + 1):
                below = "/".join(names[:depth])
                at = f"{outer.at.rstrip('/')}/{below}"
                path = f"{outer.path.rstrip('/')}/{below}"
                if at not in places:
                    places[at] = Source(path, at, True, True)
    return sorted(places.values(), key=lambda s: (s.at.count("/"), s.at))


def _protect(sources: list[Source], own: tuple[str, ...]) -> list[Source]:
    """A writable share that holds wardian's own files gets those read-only."""
    protected = []
    for source in sources:
        protected.append(source)
        if not source.write or not source.is_dir:
            continue
        for root in own:
            if is_below(root, source.path):
                at = source.at.rstrip("/") + root[len(source.path.rstrip("/")) :]
                protected.append(Source(root, at, False, True))
    return protected
