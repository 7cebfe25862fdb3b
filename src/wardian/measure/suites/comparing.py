"""Cases that pass in the baseline and not in a sandbox, and the cause of each. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from wardian.measure.refused import general, likely
from wardian.measure.suites.outcomes import PROGRAM_CASE, ProgramResult, SuiteOutcome

UNSTEADY = "flaky: it passes when run alone"
NOT_FOUND = "not found"  # how what stands in the place of a wall begins, where none was found


class Lost(NamedTuple):
    """A case that passes in the baseline; ``here`` is None where the sandbox has no such case."""

    sandbox: str
    program: str
    case: str
    status: str
    cause: str
    here: SuiteOutcome | None
    besides: bool = False  # an outcome of the program as a whole, which the baseline does not have

    @property
    def unsteady(self) -> bool:
        """It failed beside others and passed alone: the sandbox does not forbid it."""
        return self.here is not None and self.here.alone == "passed"


def lost_cases(results: Sequence[ProgramResult], baseline: str) -> list[Lost]:
    """In the order of the programs, for every sandbox but the baseline."""
    native = {one.program: one for one in results if one.sandbox == baseline}
    found: list[Lost] = []
    for result in results:
        if result.sandbox != baseline and result.program in native:
            found += _lost(native[result.program], result)
    return found


def _lost(native: ProgramResult, here: ProgramResult) -> list[Lost]:
    mine = {one.case: one for one in here.outcomes}
    whole = mine.get(PROGRAM_CASE)
    found: list[Lost] = []
    for one in native.outcomes:
        if one.status == "passed" and not one.flaky and not _passed(mine.get(one.case)):
            outcome = mine.get(one.case)
            if outcome is not None:
                found.append(_lost_case(here, one.case, outcome))
            else:
                cause = cause_of(whole) if whole is not None else "it has no such case here"
                found.append(Lost(here.sandbox, here.program, one.case, "not_run", cause, None))
    if native.listed and here.listed:
        # Outcomes of the program as a whole exist only where they happened.
        theirs = {one.case for one in native.outcomes}
        befell = [one for one in here.outcomes if one.of_program and one.case not in theirs]
        lost = [_lost_case(here, one.case, one) for one in befell if one.status != "passed"]
        found += [one._replace(besides=True) for one in lost]
    return found


def _passed(outcome: SuiteOutcome | None) -> bool:
    return outcome is not None and outcome.status == "passed"


def _lost_case(here: ProgramResult, case: str, outcome: SuiteOutcome) -> Lost:
    return Lost(here.sandbox, here.program, case, outcome.status, cause_of(outcome), outcome)


def gained_cases(results: Sequence[ProgramResult], baseline: str) -> list[tuple[str, str, str]]:
    """Sandbox, program and case of what passes there and fails in the baseline."""
    native = {(one.program, o.case): o for one in results if one.sandbox == baseline
              for o in one.outcomes}  # fmt: skip
    return [
        (result.sandbox, result.program, one.case)
        for result in results
        if result.sandbox != baseline
        for one in result.outcomes
        if one.status == "passed"
        and (before := native.get((result.program, one.case))) is not None
        and before.status in ("failed", "crashed", "timeout")
    ]


def cause_of(outcome: SuiteOutcome) -> str:
    """The same cause is the same text: a refusal if the supervisor saw one, else its detail."""
    if outcome.alone == "passed":
        return UNSTEADY
    refusal = likely(outcome.refusals)
    if refusal is not None:
        return f"refused: {general(refusal)} ({refusal.reason})"
    if outcome.suspect:
        return f"likely {outcome.suspect}"
    if outcome.status in ("crashed", "timeout", "not_run") and outcome.detail:
        return f"{outcome.status}: {outcome.detail}"
    first = outcome.detail or _last_line(outcome.output)
    return f"{outcome.status}: {first}" if first else outcome.status


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


class Cause(NamedTuple):
    """What several lost cases have in common."""

    sandbox: str
    cause: str
    cases: tuple[Lost, ...]


def walls(lost: Sequence[Lost]) -> dict[str, dict[str, int]]:
    """Sandbox → wall → how many lost cases pass without it, where that was asked; most first."""
    return _by_wall(lost, found=True)


def no_wall(lost: Sequence[Lost]) -> dict[str, dict[str, int]]:
    """Sandbox → what was tried in vain → for how many lost cases."""
    return _by_wall(lost, found=False)


def _by_wall(lost: Sequence[Lost], *, found: bool) -> dict[str, dict[str, int]]:
    counted: dict[str, Counter[str]] = {}
    for one in lost:
        wall = one.here.wall if one.here is not None else ""
        if wall and wall.startswith(NOT_FOUND) != found:
            counted.setdefault(one.sandbox, Counter())[wall] += 1
    return {sandbox: dict(counts.most_common()) for sandbox, counts in counted.items()}


def causes(lost: Sequence[Lost]) -> list[Cause]:
    """Those of most cases first."""
    groups: dict[tuple[str, str], list[Lost]] = {}
    for one in lost:
        groups.setdefault((one.sandbox, one.cause), []).append(one)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1]))
    return [Cause(sandbox, cause, tuple(ones)) for (sandbox, cause), ones in ordered]
