"""What of the host two policies show, and where: the files part of comparing them.

Files are compared as the host has them, whatever place they stand at inside: whoever may read /a
may read /a/b, whoever may write may read, and what another share covers can't be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.root import base
from wardian.sandbox.root.shares import is_below

NOTHING, READ, WRITE = 0, 1, 2
Resolve = Callable[[str], str]


class Mount(NamedTuple):
    """A path of the host, and where the guest finds it."""

    path: str
    at: str
    write: bool


class View:
    """What of the host one policy shows, and where."""

    def __init__(self, policy: Policy, resolve: Resolve) -> None:
        shares = [Mount(resolve(share.path), share.at, share.write) for share in policy.shares]
        if policy.work is not None:
            shares.append(Mount(resolve(policy.work), WORK, True))
        self._base = list(_base(policy, resolve))
        self.narrowed = policy.base is not None
        # said twice, the later one counts
        self._mounts = {mount.at: mount for mount in (*self._base, *shares)}
        self.shares = [mount for mount in self._mounts.values() if mount in shares]

    def access(self, path: str) -> int:
        """What the guest may do to a path of the host."""
        found = [WRITE if mount.write else READ for mount in self._showing(path)]
        return max(found, default=NOTHING)

    def places(self, path: str) -> list[str]:
        """Where the guest finds it."""
        return sorted(moved(path, mount.path, mount.at) for mount in self._showing(path))

    def edges(self, *, base: bool) -> set[str]:
        """Every path of the host at which what the guest may do can change; those of the ``base``
        only where two have not the same."""
        found = {mount.path for mount in (*self.shares, *(self._base if base else ()))}
        for outer in (*self._base, *self.shares):
            for inner in self.shares:
                if is_below(inner.at, outer.at):  # and hides what is there
                    found.add(moved(inner.at, outer.at, outer.path))
        return found

    def _showing(self, path: str) -> Iterator[Mount]:
        for mount in self._mounts.values():
            if is_below(path, mount.path):
                place = moved(path, mount.path, mount.at)
                if self._at(place) == mount:
                    yield mount

    def _at(self, place: str) -> Mount:
        """The innermost mount around a place."""
        return max(
            (mount for mount in self._mounts.values() if is_below(place, mount.at)),
            key=lambda mount: len(mount.at),
        )


def _base(policy: Policy, resolve: Resolve) -> Iterator[Mount]:
    """What every guest can read, shared with it or not."""
    if policy.rootfs is not None:
        yield Mount(resolve(policy.rootfs), "/", False)
        return
    for path, source, link in base(only=policy.base):
        if link is None:
            yield Mount(source, path, False)


def moved(path: str, root: str, to: str) -> str:
    """A path below ``root`` as it is called when that is called ``to``."""
    rest = path[len(root.rstrip("/")) :]
    return (to.rstrip("/") + rest) or "/"


class Region(NamedTuple):
    """Where A and B let the guest do different things: all below ``path``, but for ``apart``."""

    path: str
    levels: tuple[int, int]
    apart: list[str]


def regions(views: tuple[View, View]) -> list[Region]:
    """At most one for each edge: between edges, nothing changes."""
    found: list[Region] = []
    levels: dict[str, tuple[int, int]] = {}
    region_of: dict[str, Region | None] = {}
    base = views[0].narrowed or views[1].narrowed
    for path in sorted(views[0].edges(base=base) | views[1].edges(base=base)):
        above = max((known for known in levels if is_below(path, known)), key=len, default=None)
        around = region_of[above] if above is not None else None
        levels[path] = views[0].access(path), views[1].access(path)
        if levels[path][0] == levels[path][1]:
            region_of[path] = None
            if around is not None:
                around.apart.append(path)
        elif around is not None and levels[path] == around.levels:
            region_of[path] = around
        else:
            found.append(Region(path, levels[path], []))
            region_of[path] = found[-1]
    return found
