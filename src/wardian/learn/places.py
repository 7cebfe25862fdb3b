"""From the files that runs used to the few parts of the host's /usr and /etc that hold them."""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from wardian.learn.data import learning
from wardian.learn.libraries import libraries, linked_outside
from wardian.sandbox.root.parts import Parts
from wardian.sandbox.root.root import base
from wardian.sandbox.root.shares import is_below
from wardian.text import printable


class BasePart(NamedTuple):
    """One part of the base, and why it is there."""

    path: str
    why: str


@functools.cache
def whole() -> Parts:
    """The parts of the host that a run gets by default."""
    found = base()
    return Parts(
        {one.path: one.source for one in found if one.link is None},
        {one.path: one.link for one in found if one.link is not None},
    )


def places(
    files: dict[str, frozenset[str]],
    directories: Collection[str],
    *,
    listed_too: bool = False,
    known: Collection[str] = (),
) -> list[BasePart]:
    """Sorted. With ``listed_too`` directories that belong to many programs are taken as a whole if
    they were listed, and those that were only looked at are there as well. What ``known`` parts
    bring along is left out."""
    has = held_by(known)
    used: dict[str, set[str]] = defaultdict(set)
    folders: dict[str, str] = {}
    for path, actions in files.items():
        real = whole().real(path)
        if real is None or has(path):
            continue
        if path in directories or os.path.isdir(real):
            if "listed" in actions and (listed_too or not is_wide(real)):
                folders[real] = "listed"
            elif listed_too and not is_wide(real):
                folders[real] = "looked at"
            continue
        # The name that was used brings the file along: a link to another version next week too.
        used[_named(path)] |= actions
    # What a link brings along needs no name, and has another one after the next update.
    for path in list(used):
        for other in (*whole().way(path), whole().real(path)):
            if other != path and path in used:
                used.pop(str(other), None)
    for path in learning().kept_places:
        if whole().real(path) is not None and not has(path):
            used.setdefault(path, {"kept for the loader"})
    own = [path for path in folders if not is_wide(path)]
    units = (*own, *_units(used))
    needed = linked_outside(units, whole()) | libraries((*used, *units), whole())
    there = {whole().real(path) for path in used}
    for path, by in sorted(needed.items()):
        name = _named(path)
        if not has(name) and not is_wide(name) and whole().real(name) not in there:
            used[name].add(f"needed by {printable(by)}")
    return _few(used, dict.fromkeys(units, "") | folders)


def held_by(parts: Collection[str]) -> Callable[[str], bool]:
    """Is a path there, links on the way included, where only these parts of the host's are?"""
    held = Parts(whole().trees, whole().linked)
    for part in parts:
        held.add(part)
    places, links = held.places, held.links

    def has(path: str) -> bool:
        real = whole().real(path)
        return real is not None and all(
            one in links or one in whole().linked or _inside(one, places, itself=True)
            for one in (*whole().way(path), real)
        )

    return has


def still_used(parts: Iterable[str], files: Iterable[str]) -> list[BasePart]:
    """Of a base that is narrow already, what was used; it is never generalised beyond itself."""
    used = {one for path in files for one in (_named(path), whole().real(path)) if one}
    return [
        BasePart(path, "as it was")
        for path in parts
        if any(is_below(one, _named(path)) or is_below(one, whole().real(path) or path)
               for one in used)
    ]  # fmt: skip


def is_wide(path: str) -> bool:
    """Does the directory belong to many programs?"""
    return any(fnmatchcase(path, pattern) and path.count("/") == pattern.count("/")
               for pattern in learning().wide)  # fmt: skip


def _named(path: str) -> str:
    """The path with links in its directories followed, not the last one."""
    folder, name = os.path.split(path)
    real = whole().real(folder)
    if real is None:  # a directory that we make, as /etc
        return path
    return f"{real.rstrip('/')}/{name}"


def _few(used: dict[str, set[str]], folders: dict[str, str]) -> list[BasePart]:
    chosen = dict(folders)
    while True:
        chosen = {p: why for p, why in chosen.items() if not _inside(p, chosen)}
        single = [path for path in used if not _inside(path, chosen, itself=True)]
        if len(chosen) + len(single) <= learning().most:
            break
        fullest = _fullest(single)
        if fullest is None:
            break
        chosen[fullest] = ""
    found = [BasePart(path, _why(path, why, used)) for path, why in chosen.items()]
    found += [BasePart(path, ", ".join(sorted(used[path]))) for path in single]
    return sorted(found)


def _inside(path: str, folders: Iterable[str], *, itself: bool = False) -> bool:
    return any(is_below(path, one) and (itself or path != one) for one in folders)


def _units(used: Iterable[str]) -> set[str]:
    """The outermost directory of each file that belongs to one program: the next input may need
    another of its files. None for a file right in a directory of many programs."""
    found = set()
    for path in used:
        folder, unit = os.path.dirname(path), None
        while folder != "/":
            if not is_wide(folder):
                unit = folder
            folder = os.path.dirname(folder)
        if unit is not None:
            found.add(unit)
    return found


def _fullest(single: Iterable[str]) -> str | None:
    """The directory that saves most mounts, of those that are not /usr or /etc themselves."""
    counts: dict[str, int] = defaultdict(int)
    for path in single:
        counts[os.path.dirname(path)] += 1
    saving = [path for path in sorted(counts) if path.count("/") > 1 and counts[path] > 1]
    return max(saving, key=lambda path: counts[path], default=None)


def _why(path: str, why: str, used: dict[str, set[str]]) -> str:
    count = sum(is_below(one, path) for one in used)
    counted = f"{count} file{'s' if count != 1 else ''} used" if count else ""
    return ", ".join(part for part in (why, counted) if part)
