"""Figures computed from results. Pure: each can be recomputed from the cases it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from wardian.measure.case import KINDS
from wardian.measure.outcome import HEALTH
from wardian.measure.store.model import Figure, Measurement


def counted(results: Sequence[Measurement]) -> list[Figure]:
    """For each kind and sandbox: ``probe.total``, ``probe.good``, ``probe.bad`` …"""
    counts: Counter[tuple[str, str, str]] = Counter()
    for one in results:
        for what in ("total", one.health):
            counts[one.case.kind, one.case.sandbox, what] += 1
    places = sorted({(kind, sandbox) for kind, sandbox, _ in counts})
    return [
        Figure(0, f"{kind}.{what}", sandbox, counts[kind, sandbox, what], "cases", f"{kind}:{what}")
        for kind, sandbox in sorted(places, key=lambda one: (KINDS.index(one[0]), one[1]))
        for what in ("total", *HEALTH)
    ]


def skills_passing(results: Iterable[Measurement]) -> list[Figure]:
    """``skills.total`` and ``skills.working``: skills all of whose cases that ran pass."""
    broken: dict[tuple[str, str], bool] = {}
    for one in results:
        if one.case.kind == "skill" and one.health != "absent":
            key = (one.case.sandbox, one.case.group)
            broken[key] = broken.get(key, False) or one.health != "good"
    found = []
    for sandbox in sorted({sandbox for sandbox, _ in broken}):
        ones = [bad for (place, _), bad in broken.items() if place == sandbox]
        found.append(Figure(0, "skills.total", sandbox, len(ones), "skills", "skill:total"))
        working = sum(not bad for bad in ones)
        found.append(Figure(0, "skills.working", sandbox, working, "skills", "skill:good"))
    return found
