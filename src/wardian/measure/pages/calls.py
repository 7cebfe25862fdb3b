"""The page of system calls: all of the table at a glance, and a section for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.findings.findings import CallUsers, users
from wardian.measure.outcome import NEVER, Status, status
from wardian.measure.pages.facts import Facts
from wardian.measure.syscalls.cells import CallSupport
from wardian.measure.syscalls.matrix import CallLine
from wardian.measure.target import HOST
from wardian.syscalls.knowledge import Knowledge
from wardian.syscalls.table import Row

# The statuses that are counted, with the headings of their columns.
COUNTED = {
    "supported": "supported",
    "partial": "partly",
    "denied": "denied",
    "missing": "missing",
    "": "not measured",
}


class CallCell(NamedTuple):
    """A call in one sandbox; ``cell`` is None where it was not measured."""

    sandbox: str
    sign: Status
    cell: CallSupport | None


class CallEntry(NamedTuple):
    """A call: what is known of it, how it fares in each sandbox, and which skills use it."""

    row: Row
    knowledge: Knowledge
    anchor: str
    places: tuple[CallCell, ...]
    specimens: tuple[str, ...]
    skills: tuple[str, ...]
    words: str

    @property
    def worst(self) -> Status:
        """The least good of its outcomes."""
        return min((one.sign for one in self.places), key=lambda one: one.order, default=NEVER)

    @property
    def differs(self) -> bool:
        """Do sandboxes differ? The bare host counts only beside a single one."""
        asked = [one for one in self.places if one.cell is not None]
        boxes = [one for one in asked if one.sandbox != HOST]
        return len({one.sign.name for one in (boxes if len(boxes) > 1 else asked)}) > 1


def entries(facts: Facts) -> list[CallEntry]:
    """Every call of the table, in its order."""
    used = users(facts.results)
    return [
        _entry(facts, line, sorted(used.get(line.name, CallUsers()).skills))
        for line in facts.matrix.lines
    ]


def _entry(facts: Facts, line: CallLine, skills: Sequence[str]) -> CallEntry:
    places = []
    for sandbox in facts.sandboxes:
        cell = line.cells.get(sandbox)
        places.append(CallCell(sandbox, status(cell.status if cell else None), cell))
    row, knowledge = line.row, line.knowledge
    about = (row.name, row.group, row.kind, knowledge.priority, *knowledge.used_by, *skills)
    words = " ".join((*about, *(one.sign.word for one in places))).lower()
    anchor = f"syscall_{row.name}"
    specimens = tuple(line.probes)
    return CallEntry(row, knowledge, anchor, tuple(places), specimens, tuple(skills), words)


def groups(every: Iterable[CallEntry]) -> dict[str, list[CallEntry]]:
    """The calls of each group, in the table's order."""
    found: dict[str, list[CallEntry]] = {}
    for one in every:
        found.setdefault(one.row.group, []).append(one)
    return found


def totals(every: Sequence[CallEntry], sandboxes: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Of each sandbox: how many calls have each status (``COUNTED``)."""
    return {
        name: Counter(one.places[place].sign.name for one in every)
        for place, name in enumerate(sandboxes)
    }
