"""What the guest's root is made of, as the launcher's set-up steps: the host's /usr or another
root file system, our own /etc, /dev and /proc, private directories, and what the policy shares."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence

from wardian.errors import ShareError
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import INODES, MQUEUE, NESTING, PTYS, Layout, layout
from wardian.sandbox.root.shares import KERNEL_TREES, Source, is_below
from wardian.sandbox.run.records import BIND_DEVICE, BIND_OPTIONAL, BIND_OWNER, BIND_WRITE, record

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

# Made by us in every root, whatever another root file system brings.
OWN = ("dev", "home", "proc", "sys", "tmp", "work")
# Of these, another root file system gives what lies inside, but for what we make there.
OPENED = ("etc", "var")


class Base(NamedTuple):
    """One thing in every guest's root: our ``link``, or else ``source`` of the host, read-only."""

    path: str
    source: str
    link: str | None


def base(rootfs: str | None = None, only: tuple[str, ...] | None = None) -> tuple[Base, ...]:
    """What the guest finds before anything is shared with it; of the host's, ``only`` what is named
    there. Raises ShareError."""
    if rootfs is None:
        return _of_host(layout()) if only is None else parts_of_host(only)
    if only is not None:
        raise ShareError(rootfs, "a base that names parts of /usr and another root exclude another")
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
        raise ShareError(rootfs, "that is the host itself")
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
        raise ShareError(rootfs, "it is empty, and so no root file system")
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
        raise ShareError(rootfs, f"it {why}", hint=f"name the target itself: {way.real}")
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


def root_steps(policy: Policy, sources: Sequence[Source], standing: set[str]) -> list[bytes]:
    """The records that build the root, in order."""
    shape = layout()
    places = {source.at for source in sources}
    limits = policy.limits
    space = min(limits.disk_bytes or 1 << 40, limits.memory_bytes or 1 << 40)
    steps = [record("root", space, INODES)]
    for path, source, link in base(policy.rootfs, policy.base):
        if link:
            steps.append(record("symlink", link, path))
        else:
            steps.append(record("bind", source, path, BIND_OPTIONAL))
    if policy.network == "host":
        steps += _network_files(shape, {b.path for b in base(policy.rootfs, policy.base)})
    steps += [record("file", path, 0o644, text.lstrip("\n")) for path, text in shape.files]
    steps += _devices(shape)
    if "proc" in standing:
        steps.append(record("proc", "/proc"))
        # Who lets unshare pass by name means namespaces: the count would refuse them all the same.
        nests = "unshare" in policy.allow_syscalls
        steps += [
            record("sysctl", value, path)
            for path, value in shape.sysctl
            if not (nests and path == NESTING)
        ]
        steps += [record("mask", path) for path in shape.masks]
        steps.append(record("only", "/proc", "".join(f"{name} " for name in shape.proc)))
    else:
        steps.append(record("dir", "/proc", 0o555))
    steps += [record("private", path, mode) for path, mode in private_places(places)]
    steps += [_bind(source) for source in sources]
    steps += [record("watch", source.path) for source in sources if source.write]
    return steps


def private_places(shared: set[str]) -> list[tuple[str, int]]:
    """The layout's private directories that no share takes the place of."""
    return [
        (path, mode)
        for path, mode in layout().private
        if not any(is_below(path, place) for place in shared)
    ]


def readable_places(policy: Policy) -> list[str]:
    """Where the base of the root can be read."""
    found = base(policy.rootfs, policy.base)
    return ["/etc", "/proc", *(b.path for b in found if b.link is None)]


def _network_files(shape: Layout, there: set[str]) -> list[bytes]:
    steps = []
    for name in shape.etc_network:
        real = os.path.realpath(f"/etc/{name}")
        if os.path.exists(real) and f"/etc/{name}" not in there:
            steps.append(record("bind", real, f"/etc/{name}", BIND_OPTIONAL))
    return steps


def _bind(source: Source) -> bytes:
    flags = (BIND_WRITE if source.write else 0) | (BIND_OWNER if source.owner else 0)
    return record("bind", source.path, source.at, flags)


def _devices(shape: Layout) -> list[bytes]:
    steps = [
        record("bind", f"/dev/{name}", f"/dev/{name}", BIND_WRITE | BIND_DEVICE)
        for name in shape.devices
    ]
    steps.append(record("devpts", "/dev/pts", PTYS))
    steps.append(record("mqueue", MQUEUE))
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links |= {name: f"/proc/self/fd/{i}" for i, name in enumerate(("stdin", "stdout", "stderr"))}
    steps += [record("symlink", target, f"/dev/{name}") for name, target in links.items()]
    return steps
