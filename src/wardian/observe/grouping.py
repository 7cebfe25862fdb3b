"""Many paths summarised as few: a directory stands for the paths below it. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import NamedTuple


class Group(NamedTuple):
    """A path, or with ``count`` above 1 a directory and how many of the paths lie below it."""

    path: str
    count: int = 1  # type: ignore[assignment]  # hides tuple.count, which nobody needs


def grouped(paths: Iterable[str], most: int) -> list[Group]:
    """Absolute paths in about ``most`` groups, sorted. The root is never a group of its own, so
    there are at least as many as there are names in it."""
    distinct = sorted(set(paths))
    if len(distinct) <= most:
        return [Group(path) for path in distinct]
    groups = _split("/", distinct)
    while True:
        split = _next_split(groups, most)
        if split is None:
            break
        where, parts = split
        del groups[where]
        groups |= parts
    grouped_paths = [
        Group(at if len(below) > 1 else below[0], len(below)) for at, below in groups.items()
    ]
    return sorted(grouped_paths)


def _next_split(groups: dict[str, list[str]], most: int) -> tuple[str, dict[str, list[str]]] | None:
    """The largest group whose parts still fit."""
    for at in sorted(groups, key=lambda at: (-len(groups[at]), at)):
        if len(groups[at]) == 1:
            return None
        parts = _split(at, groups[at])
        if len(groups) - 1 + len(parts) <= most:
            return at, parts
    return None


def _split(at: str, paths: list[str]) -> dict[str, list[str]]:
    """The paths by the next name after ``at``; a directory and what lies below it stay apart."""
    start = len(at.rstrip("/")) + 1
    parts: dict[str, list[str]] = {}
    for path in paths:
        end = path.find("/", start)
        below = end >= 0
        parts.setdefault(path[:end] if below else path, []).append(path)
    return {_deepest(where, below): below for where, below in parts.items()}


def _deepest(at: str, paths: list[str]) -> str:
    """As far down as all of them go."""
    return at if at in paths else posixpath.commonpath(paths)


__all__ = ["Group", "grouped"]
