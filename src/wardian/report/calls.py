"""The page of system calls: all of the table at a glance, and a section for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.evaluation.model import Result
from wardian.report.facts import Facts
from wardian.report.words import Sign, sign
from wardian.syscalls.table import Row, rows

PREFIX = "syscall_"


class Place(NamedTuple):
    """A call in one sandbox: its checks that fail, and what each failed with."""

    sandbox: str
    sign: Sign
    passed: int
    failing: tuple[Mapping[str, Any], ...]
    results: tuple[Result, ...]


class Entry(NamedTuple):
    """A call: what the table says of it, how it fares, and who uses it."""

    row: Row
    anchor: str
    places: tuple[Place, ...]
    users: tuple[str, ...]
    words: str

    @property
    def worst(self) -> Sign:
        """The least good of its answers."""
        return min((one.sign for one in self.places), key=lambda one: one.order)


def entries(facts: Facts) -> list[Entry]:
    """Every call of the table, in its order."""
    measured: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for one in facts.of_kind("probe"):
        if one.case.capability.startswith(PREFIX):
            name = one.case.capability.removeprefix(PREFIX)
            measured[name][one.case.sandbox].append(one)
    used = _users(facts.of_kind("trace"))
    return [_entry(facts, row, measured.get(row.name, {}), used) for row in rows()]


def _entry(
    facts: Facts,
    row: Row,
    measured: Mapping[str, Sequence[Result]],
    used: Mapping[str, Sequence[str]],
) -> Entry:
    places = tuple(place(one, measured.get(one, ())) for one in facts.sandboxes)
    users = tuple(used.get(row.name, ()))
    statuses = " ".join(one.sign.word for one in places)
    words = f"{row.name} {row.group} {row.kind} {statuses} {' '.join(users)}".lower()
    return Entry(row, f"syscall_{row.name}", places, users, words)


def place(sandbox: str, results: Sequence[Result]) -> Place:
    """How a call fares in a sandbox, by what its specimens checked."""
    checks = [check for one in results for check in one.outcome.evidence.get("checks", ())]
    failing = tuple(one for one in checks if one.get("ok") is False)
    passed = sum(one.get("ok") is True for one in checks)
    return Place(sandbox, sign(_status(results, passed, failing)), passed, failing, tuple(results))


def _status(
    results: Sequence[Result], passed: int, failing: Sequence[Mapping[str, Any]]
) -> str | None:
    if not results:
        return None
    worst = min(results, key=lambda one: sign(one.status).order)
    if worst.outcome.observed is None:
        return worst.status
    if passed and failing:
        return "partial"
    if worst.outcome.observed == "blocked":
        return "missing" if worst.outcome.errno == "ENOSYS" else "denied"
    return "supported" if worst.outcome.observed == "allowed" else worst.status


def _users(traces: Iterable[Result]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in traces:
        for call in one.outcome.evidence.get("syscalls", ()):
            found[str(call)].append(one.case.group or one.case.name)
    return {call: sorted(set(names)) for call, names in found.items()}


def groups(every: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The calls of each group, in the table's order."""
    found: dict[str, list[Entry]] = {}
    for one in every:
        found.setdefault(one.row.group, []).append(one)
    return found


def totals(every: Sequence[Entry], sandboxes: Sequence[str]) -> dict[str, dict[str, int]]:
    """Of each sandbox: how many calls are supported, partial, denied, missing, never asked."""
    return {
        name: dict(Counter(one.places[place].sign.word for one in every))
        for place, name in enumerate(sandboxes)
    }
