"""What the guest's root is made of, as data: the host's /usr or another root file system, our own
files, private directories, and what the policy shares. ``steps`` renders it for the launcher, other
backends for their programs; /dev and /proc are theirs."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence

from wardian.errors import ShareError
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import BYTES_PER_FILE, INODES, Layout, layout
from wardian.sandbox.root.shares import KERNEL_TREES, Source, is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

# Made by us in every root, whatever another root file system brings.
OWN = ("dev", "home", "proc", "sys", "tmp", "work")
# Of these, another root file system gives what lies inside, but for what we make there.
OPENED = ("etc", "var")


# With a network by name; the gateway answers at once, or when someone has been asked, or the run is
# over. 30 s is the longest that glibc waits at a time.
RESOLV_CONF = "/etc/resolv.conf"
OUR_RESOLVER = b"nameserver 127.0.0.1\noptions timeout:30 attempts:4\n"


class Base(NamedTuple):
    """One thing in every guest's root: our ``link``, or else ``source`` of the host, read-only."""

    path: str
    source: str
    link: str | None


class Root(NamedTuple):
    """Everything in the root but /dev and /proc, in the order in which it is put there."""

    base: tuple[Base, ...]
    files: tuple[tuple[str, bytes], ...]
    private: tuple[tuple[str, int], ...]  # path, mode
    space: int  # bytes for all that is private
    most_files: int  # that may be made, in private places and in shares
    sources: tuple[Source, ...]

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Path and target of our own links."""
        return tuple((part.path, part.link) for part in self.base if part.link is not None)

    @property
    def binds(self) -> tuple[tuple[str, str], ...]:
        """The host's path and the path inside of what is there read-only."""
        return tuple((part.source, part.path) for part in self.base if part.link is None)


def make_root(policy: Policy, sources: Sequence[Source]) -> Root:
    """The root of a run of this policy. Raises ShareError for a base that can't be used."""
    shape, found = layout(), base(policy.rootfs, policy.base)
    if policy.network == "host":
        found += tuple(_network_files(shape, {part.path for part in found}))
    shared = {source.at for source in sources}
    limits = policy.limits
    return Root(
        base=found,
        files=tuple((path, text.lstrip("\n").encode()) for path, text in shape.files)
        + (((RESOLV_CONF, OUR_RESOLVER),) if policy.network == "names" else ()),
        private=tuple(
            (path, mode)
            for path, mode in shape.private
            if not any(is_below(path, place) for place in shared)
        ),
        space=min(limits.disk_bytes or 1 << 40, limits.memory_bytes or 1 << 40),
        most_files=max(INODES, (limits.disk_bytes or 0) // BYTES_PER_FILE),
        sources=tuple(sources),
    )


def _network_files(shape: Layout, there: set[str]) -> Iterator[Base]:
    for name in shape.etc_network:
        real = os.path.realpath(f"/etc/{name}")
        if os.path.exists(real) and f"/etc/{name}" not in there:
            yield Base(f"/etc/{name}", real, None)


def base(rootfs: str | None = None, only: tuple[str, ...] | None = None) -> tuple[Base, ...]:
    """What the guest finds before anything is shared with it; of the host's, ``only`` what is named
    there. Raises ShareError."""
    if rootfs is None:
        return _of_host(layout()) if only is None else parts_of_host(only)
    if only is not None:
        raise ShareError(rootfs, "files.base and --rootfs cannot be combined")
    return _of_rootfs(layout(), rootfs)


@functools.lru_cache(maxsize=16)
def parts_of_host(only: tuple[str, ...]) -> tuple[Base, ...]:
    """The links of the root (/bin, /lib …), and of /usr and /etc what is named, with what links on
    the way there name. Raises ShareError for what is no part of it, or not there."""
    from wardian.sandbox.root.parts import Parts

    shape = layout()
    whole = _of_host(shape)
    parts = Parts(
        {b.path: b.source for b in whole if b.link is None},
        {b.path: b.link for b in whole if b.link is not None},
    )
    for path in only:
        parts.add(path)
    roots = [b for b in whole if b.link is not None and b.path in shape.roots]
    links = [
        Base(path, path, link) for path, link in parts.links.items() if path not in shape.roots
    ]
    return (*roots, *links, *(Base(path, source, None) for path, source in parts.places.items()))


@functools.cache
def _of_host(shape: Layout) -> tuple[Base, ...]:
    found: list[Base] = []
    for path in (*shape.read, *shape.roots):
        if os.path.islink(path):
            found.append(Base(path, path, os.readlink(path)))
        elif os.path.isdir(path):
            found.append(Base(path, path, None))
    for name in shape.etc:
        path = f"/etc/{name}"
        real = os.path.realpath(path)
        if os.path.exists(real):
            # A link into /usr can stay a link: what it names is there.
            found.append(Base(path, real, real if is_below(real, "/usr") else None))
    return tuple(found)


def _of_rootfs(shape: Layout, rootfs: str) -> tuple[Base, ...]:
    real = _without_links(rootfs)
    if real == "/" or any(is_below(real, tree) for tree in KERNEL_TREES):
        raise ShareError(rootfs, "the host's own root can't be used")
    made = {path for path, _ in shape.files} | {path for path, _ in shape.private}
    found: list[Base] = []
    try:
        found += _entries(real, "", {f"/{name}" for name in (*OWN, *OPENED)})
        for name in OPENED:
            if os.path.isdir(f"{real}/{name}") and not os.path.islink(f"{real}/{name}"):
                found += _entries(f"{real}/{name}", f"/{name}", made)
    except OSError as error:
        raise ShareError(rootfs, (error.strerror or "it can't be read").lower()) from None
    if not found:
        raise ShareError(rootfs, "it is empty")
    return tuple(found)


def _without_links(rootfs: str) -> str:
    """Raises ShareError if a link that a guest may have left leads there."""
    from wardian.sandbox.paths.named import untrusted, way_of

    try:
        way = way_of(rootfs)
    except OSError as error:
        raise ShareError(rootfs, (error.strerror or "it can't be read").lower()) from None
    why = untrusted(way)
    if why is not None:
        from wardian.text import shell_word

        raise ShareError(
            rootfs, f"it {why}", hint=f"name the target itself: {shell_word(way.real)}"
        )
    return way.real


def _entries(directory: str, at: str, left_out: set[str]) -> list[Base]:
    found = []
    for name in sorted(os.listdir(directory)):
        path, source = f"{at}/{name}", f"{directory}/{name}"
        if path in left_out:
            continue
        if os.path.islink(source):
            found.append(Base(path, source, os.readlink(source)))
        elif os.path.isdir(source) or os.path.isfile(source):
            found.append(Base(path, source, None))
    return found
