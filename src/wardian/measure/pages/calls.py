"""The page of system calls: all of the table at a glance, and a section for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.findings.findings import Use, users
from wardian.measure.pages.documents.gathered import coverage_of
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.words import Sign, sign
from wardian.measure.syscalls.cells import CallCell
from wardian.measure.syscalls.matrix import CallLine
from wardian.syscalls.knowledge import Knowledge
from wardian.syscalls.table import Row


class Place(NamedTuple):
    """A call in one sandbox; ``cell`` is None where it was not asked."""

    sandbox: str
    sign: Sign
    cell: CallCell | None


class Entry(NamedTuple):
    """A call: what is known of it, how it fares in each sandbox, and which skills use it."""

    row: Row
    knowledge: Knowledge
    anchor: str
    places: tuple[Place, ...]
    specimens: tuple[str, ...]
    skills: tuple[str, ...]
    words: str

    @property
    def worst(self) -> Sign:
        """The least good of its answers."""
        return min((one.sign for one in self.places), key=lambda one: one.order)


def entries(facts: Facts) -> list[Entry]:
    """Every call of the table, in its order."""
    _, matrix = coverage_of(facts.campaign, list(facts.results.values()))
    used = users(facts.results.values())
    return [_entry(facts, line, sorted(used.get(line.name, Use()).skills)) for line in matrix.lines]


def _entry(facts: Facts, line: CallLine, skills: Sequence[str]) -> Entry:
    places = []
    for sandbox in facts.sandboxes:
        cell = line.cells.get(sandbox)
        places.append(Place(sandbox, sign(cell.status if cell else None), cell))
    row, knowledge = line.row, line.knowledge
    told = (row.name, row.group, row.kind, knowledge.priority, *knowledge.used_by, *skills)
    words = " ".join((*told, *(one.sign.word for one in places))).lower()
    anchor = f"syscall_{row.name}"
    specimens = tuple(line.probes)
    return Entry(row, knowledge, anchor, tuple(places), specimens, tuple(skills), words)


def groups(every: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The calls of each group, in the table's order."""
    found: dict[str, list[Entry]] = {}
    for one in every:
        found.setdefault(one.row.group, []).append(one)
    return found


def totals(every: Sequence[Entry], sandboxes: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Of each sandbox: how many calls are supported, partial, denied, missing, never asked."""
    return {
        name: Counter(one.places[place].sign.word for one in every)
        for place, name in enumerate(sandboxes)
    }
