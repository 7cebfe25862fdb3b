"""From the shares a policy names to sources that may be mounted: resolved, checked, ordered."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable

from wardian import compiled
from wardian.errors import ShareError
from wardian.sandbox.policy.policy import Policy, Share

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple

    from wardian.sandbox.paths.named import ResolvedPath
    from wardian.sandbox.paths.own_files import Own
else:
    from wardian.values import NamedTuple

# The host's own view of itself: sharing any of it would undo the guest's.
KERNEL_TREES = ("/proc", "/sys", "/dev")
PACKAGE = os.path.realpath(compiled.PACKAGE)
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


__all__ = [
    "KERNEL_TREES",
    "MADE_HERE",
    "Source",
    "admitted",
    "admitted_unwalled",
    "is_below",
    "resolve_shares",
]


def is_below(path: str, root: str) -> bool:
    """True for the root itself and what lies below it: ``/a/b`` is not below ``/a/bc``."""
    return path == root or path.startswith(root.rstrip("/") + "/")


class Source(NamedTuple):
    """A share whose path is free of links, and which exists."""

    path: str
    at: str
    write: bool
    is_dir: bool
    owner: bool = True  # the guest acts as its owner, where the caller is root
    copy: bool = False  # read-only outside; inside, changes go to a layer of the run's own
    link: str = ""  # the place inside that it is a link to: a part of another copy


def resolve_shares(
    shares: Iterable[Share],
    *,
    own: Own | None = None,
    private: Collection[str] = (),
    make: bool = False,
) -> list[Source]:
    """Sources in mounting order, outer places first. Raises ShareError.

    ``private`` are paths that wardian made for this run alone, and removes after it. With ``make``
    directories of wardian's own that are missing in what may be written are made, so as to be kept.
    """
    asked = list(shares)
    ways = [_way(share) for share in asked]
    writable = [
        way.real
        for share, way in zip(asked, ways, strict=True)
        if share.write and share.path not in private
    ]
    if own is None and writable:
        from wardian.sandbox.paths.own_files import own_files

        own = own_files()
    by_place: dict[str, Source] = {}
    for share, way in zip(asked, ways, strict=True):
        _refuse_links(share, way, writable)
        source = _resolve(share, way)
        _refuse_dangerous(source, own)
        _refuse_place(source)
        by_place[source.at] = source  # said twice, the later one counts
    sources = sorted(by_place.values(), key=lambda s: (s.at.count("/"), s.at))
    sources = _one_copy(sources)
    for source in sources:
        _refuse_ghost(source, sources)
    return _pinned(sources if own is None else _protect(sources, own, make=make))


def admitted(policy: Policy, own_work: str | None, work_at: str, *, copies: bool) -> list[Source]:
    """What a run of this policy shares, and remembered as shared for writing where it may be
    written. The one door for every backend; without ``copies`` it has none, and each share is there
    by itself. Raises ShareError."""
    shares = [share if copies else share._replace(copy=False) for share in policy.shares]
    work = policy.work or own_work
    if work:
        shares.append(Share(work, work_at, True))
    private = () if own_work is None or policy.work is not None else (own_work,)
    sources = resolve_shares(shares, private=private, make=True)
    made_here = {_real(path) for path in private}
    _remember([s.path for s in sources if s.write and s.path not in made_here])
    return sources


def admitted_unwalled(policy: Policy, own_work: str | None) -> str | None:
    """The same for a backend without walls, which mounts nothing: the real path of its work
    directory, if it has one. Raises ShareError."""
    shares = [share for share in policy.shares if share.write]
    for share in policy.shares:
        _refuse_links(share, _way(share), ())
    if policy.work is None:
        _remember([_way(share).real for share in shares])
        return own_work
    work = Share(policy.work, policy.work, True)
    _refuse_links(work, _way(work), ())
    _remember([_way(share).real for share in (*shares, work)])
    return _way(work).real


def _remember(paths: Iterable[str]) -> None:
    outer: list[str] = []
    for path in sorted(set(paths), key=len):
        if not any(is_below(path, other) for other in outer):
            outer.append(path)
    if outer:
        from wardian.sandbox.paths.shared_before import remember

        remember(outer)


def _real(path: str) -> str:
    from wardian.sandbox.paths.named import way_of

    return way_of(path).real


def _way(share: Share) -> ResolvedPath:
    from wardian.sandbox.paths.named import way_of

    try:
        return way_of(share.path)
    except OSError as error:
        raise ShareError(share.path, (error.strerror or "it can't be resolved").lower()) from None


def _refuse_links(share: Share, way: ResolvedPath, writable: Collection[str]) -> None:
    """A link that a guest may have left does not decide what is shared. Raises ShareError."""
    from wardian.sandbox.paths.named import untrusted

    why = untrusted(way, writable)
    if why is not None:
        from wardian.text import shell_word

        hint = f"name the target itself, if it is meant: {shell_word(way.real)}"
        raise ShareError(share.path, f"it {why}", hint=hint)


def _resolve(share: Share, way: ResolvedPath) -> Source:
    real = way.real
    try:
        status = os.lstat(real)
    except OSError as error:
        raise ShareError(share.path, (error.strerror or "it can't be resolved").lower()) from None
    mode = status.st_mode
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        raise ShareError(share.path, "only directories, files and sockets can be shared")
    wanted = os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)
    if not stat.S_ISSOCK(mode) and not os.access(real, wanted):
        raise ShareError(share.path, "permission denied")
    if share.copy and (share.write or not stat.S_ISDIR(mode)):
        raise ShareError(share.path, "only a directory can be copied, and not for writing")
    copy = share.copy and _has_known_owner(status)
    return Source(real, share.at, share.write, stat.S_ISDIR(mode), copy=copy)


def as_copy(source: Source) -> Source:
    """The same as a copy, where it can be one."""
    if source.write or not source.is_dir or not _has_known_owner(os.lstat(source.path)):
        return source
    return source._replace(copy=True, owner=True)


def _has_known_owner(status: os.stat_result) -> bool:
    """The kernel copies a file with its owner and group. In a user namespace of an ordinary user's
    there is only one of each, and with others every change would fail with EOVERFLOW."""
    return os.geteuid() == 0 or (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid())


def _one_copy(sources: list[Source]) -> list[Source]:
    """A copy of a part of what another copy has is the same, seen at another place: what is changed
    at one is changed at the other. What is placed below the link, goes where it leads."""
    copies = [source for source in sources if source.copy]
    places = {
        one.at: f"{other.at}/{os.path.relpath(one.path, other.path)}"
        for one in copies
        for other in copies
        if one.path != other.path and is_below(one.path, other.path)
    }
    if not places:
        return sources
    found = []
    for source in sources:
        above = next((at for at in places if is_below(source.at, at)), None)
        if above is None:
            found.append(source)
        elif above == source.at:
            found.append(source._replace(link=places[above]))
        else:
            found.append(source._replace(at=places[above] + source.at[len(above) :]))
    once = {source.at: source for source in found}
    return sorted(once.values(), key=lambda s: (s.at.count("/"), s.at))


def _refuse_dangerous(source: Source, own: Own | None) -> None:
    if source.path == "/":
        raise ShareError("/", "that is the whole host", hint="share the directories it needs")
    for tree in KERNEL_TREES:
        if is_below(source.path, tree):
            raise ShareError(source.path, f"the host's {tree} would let the guest act on the host")
    launcher = os.path.join(PACKAGE, "_bin")
    if is_below(source.path, launcher):
        raise ShareError(source.path, f"it is part of wardian's own files ({launcher})")
    if source.write and own is not None:
        from wardian.sandbox.paths.own_files import refuse_own

        refuse_own(source.path, own)


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
                hint=f"give it a place of its own, such as {source.path}:/mnt/"
                f"{os.path.basename(source.path)}, or create {there} first",
            )


def _pinned(sources: list[Source]) -> list[Source]:
    """Directories between a writable share and a place inside it become mounts too, or a guest
    could rename one of them and put something of its own in that place. In a read-only share, also
    in one that a writable one holds, nothing can be renamed."""
    places = {source.at: source for source in sources}
    for inner in sources:
        around = [one for one in sources if one.at != inner.at and is_below(inner.at, one.at)]
        if not around:
            continue
        outer = max(around, key=lambda one: len(one.at))
        names = inner.at[len(outer.at.rstrip("/")) + 1 :].split("/")[:-1]
        for depth in range(1, len(names) + 1 if outer.write else 0):
            below = "/".join(names[:depth])
            at = f"{outer.at.rstrip('/')}/{below}"
            path = f"{outer.path.rstrip('/')}/{below}"
            places.setdefault(at, Source(path, at, True, True))
    return sorted(places.values(), key=lambda s: (s.at.count("/"), s.at))


def _protect(sources: list[Source], own: Own, *, make: bool) -> list[Source]:
    """A writable share that holds wardian's own files gets those read-only."""
    from wardian.sandbox.paths.own_files import read_only_within

    protected = list(sources)
    for source in sources:
        if not source.write or not source.is_dir:
            continue
        for root in read_only_within(source.path, own, make=make):
            at = source.at.rstrip("/") + root[len(source.path.rstrip("/")) :]
            if all(one.at != at for one in protected):
                protected.append(Source(root, at, False, os.path.isdir(root)))
    return protected
