"""Every directory of a tree, once, from the top down. What is exchanged meanwhile is seen as one of
both, and never leads out of the tree."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from typing import NamedTuple

from wardian.descriptors import LISTABLE, enter
from wardian.sandbox.files.problems import problem
from wardian.sandbox.files.trail import Trail
from wardian.sandbox.files.values import FileInfo, info_of
from wardian.sandbox.paths.removal import Identity, identity


class Visited(NamedTuple):
    """A directory: open while it is looked at, ``depth`` below the top. Where it could not be read
    there is an ``error``, and no descriptor."""

    fd: int
    path: str
    depth: int
    entries: list[FileInfo]
    error: OSError | None = None


class _Level:
    """A directory on the way down: which it is, its name, and what is left to enter."""

    __slots__ = ("known", "name", "path", "waiting")

    def __init__(self, known: Identity, name: str, seen: Visited) -> None:
        self.known, self.name, self.path = known, name, seen.path
        self.waiting = [one.name for one in seen.entries if one.kind == "directory"][::-1]


def scan(fd: int, path: str, most: int) -> list[FileInfo]:
    """What a directory holds, by name. Raises OSError, and FileTooLarge for more than ``most``."""
    found: list[FileInfo] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            if len(found) >= most:
                raise problem(errno.EFBIG, path, "holds more entries than max_entries")
            try:
                status = entry.stat(follow_symlinks=False)
                target = os.readlink(entry.name, dir_fd=fd) if entry.is_symlink() else ""
            except OSError:
                continue  # it went away, or turned into something else
            found.append(info_of(f"{path}/{entry.name}", status, target))
    return sorted(found, key=lambda one: one.name)


def walk(top: int, path: str, most: int) -> Generator[Visited]:
    """The directory that is open as ``top``, which stays the caller's, and all below it. Raises
    OSError where the top itself can't be read, and FileTooLarge for more than ``most`` entries."""
    trail = Trail(os.open(".", LISTABLE, dir_fd=top))
    try:
        seen = Visited(trail.here, path, 0, scan(trail.here, path, most))
        levels = [_Level(identity(trail.here), "", seen)]
        count = len(seen.entries)
        yield seen
        while levels:
            if not levels[-1].waiting:
                levels.pop()
                if levels:
                    _back(trail, top, levels)
                continue
            seen = _entered(trail, levels, most - count)
            count += len(seen.entries)
            yield seen
    finally:
        trail.close()


def _entered(trail: Trail, levels: list[_Level], most: int) -> Visited:
    name, depth = levels[-1].waiting.pop(), len(levels)
    path = f"{levels[-1].path}/{name}"
    try:
        below = enter(trail.here, name)
    except OSError as error:
        return Visited(-1, path, depth, [], error)
    trail.down(below)
    seen = Visited(below, path, depth, scan(below, path, most))
    levels.append(_Level(identity(below), name, seen))
    return seen


def _back(trail: Trail, top: int, levels: list[_Level]) -> None:
    """Up to the last level; where it is not above any more, from the top as far as it is there."""
    try:
        trail.up()
        return
    except OSError:
        trail.restart(os.open(".", LISTABLE, dir_fd=top))
    for i, level in enumerate(levels[1:], 1):
        try:
            below = enter(trail.here, level.name)
        except OSError:
            del levels[i:]
            return
        if identity(below) != level.known:
            os.close(below)
            del levels[i:]
            return
        trail.down(below)
