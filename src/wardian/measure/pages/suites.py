"""The page of suites: test programs with the outcomes of their cases, and the cases that differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardian.measure.outcome import status
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.views import CaseRow, in_order, row_of
from wardian.measure.store.model import Measurement

BASELINE = "host"
MAX_CASES = 2000  # with a row of their own; the counts are of all


class ProgramRow(NamedTuple):
    """One test program: its counts in each sandbox, and the cases worth looking at."""

    name: str
    counts: tuple[Mapping[str, int], ...]
    lost: tuple[int | None, ...]  # pass on the baseline, and not here
    total: int
    rows: tuple[CaseRow, ...]


def programs(facts: Facts) -> list[ProgramRow]:
    """By name. Only cases that do not pass everywhere, or that changed, have a row."""
    found: dict[str, dict[str, list[Measurement]]] = defaultdict(lambda: defaultdict(list))
    for one in facts.of("suite"):
        found[one.case.group][one.case.name].append(one)
    left = MAX_CASES
    made = []
    for name, cases in sorted(found.items()):
        program = _program(facts, name, cases, left)
        left -= len(program.rows)
        made.append(program)
    return made


def _program(
    facts: Facts, name: str, cases: Mapping[str, Sequence[Measurement]], room: int
) -> ProgramRow:
    every = [one for results in cases.values() for one in results]
    counts, lost = [], []
    for sandbox in facts.sandboxes:
        here = [one for one in every if one.case.sandbox == sandbox]
        counts.append(in_order(Counter(status(one.status).tone for one in here)))
        lost.append(_lost(cases, sandbox) if here else None)
    worth = [name for name, results in cases.items() if _is_worth_a_row(facts, results)]
    rows = tuple(row_of(facts, one, [r.case for r in cases[one]]) for one in sorted(worth)[:room])
    return ProgramRow(name, tuple(counts), tuple(lost), len(cases), rows)


def _lost(cases: Mapping[str, Sequence[Measurement]], sandbox: str) -> int | None:
    if sandbox == BASELINE:
        return None
    count = 0
    for results in cases.values():
        health = {one.case.sandbox: one.health for one in results}
        count += health.get(BASELINE) == "good" and health.get(sandbox) in ("bad", "broken")
    return count


def _is_worth_a_row(facts: Facts, results: Sequence[Measurement]) -> bool:
    return any(
        one.health not in ("good", "absent")
        or (
            one.case.identity in facts.before
            and facts.before[one.case.identity].status != one.status
        )
        for one in results
    )
