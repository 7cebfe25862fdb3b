"""One program in one target: its cases, or the program as one; and one case of it by itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from wardian.errors import WardianError
from wardian.measure.refused import worth_keeping
from wardian.measure.suites import gtest, lines
from wardian.measure.suites.cases import GtestCases, OnCase
from wardian.measure.suites.charging import KEEP_BYTES, text
from wardian.measure.suites.execution import Execution, ProgramRuns, Running, RunOptions
from wardian.measure.suites.outcomes import PROGRAM_CASE, SuiteOutcome
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.suspecting import Watcher
from wardian.measure.target import WARDIAN, Target
from wardian.sandbox.run.traffic import OnBytes

NOTHING_KNOWN: Mapping[str, SuiteOutcome] = MappingProxyType({})


class Counted(NamedTuple):
    """The outcomes of a program, the protocol that it turned out to speak, and its runs."""

    outcomes: tuple[SuiteOutcome, ...]
    protocol: str
    runs: int


def run_program(
    program: SuiteProgram,
    target: Target,
    options: RunOptions,
    running: Running,
    on_case: OnCase,
    known: Mapping[str, SuiteOutcome] = NOTHING_KNOWN,
) -> Counted:
    """Never raises for what the program does, nor for a sandbox that can't be had; raises Stopped.
    ``on_case`` hears of each case and its status, as far as they can be detail while they run. What
    is ``known`` of a case is not asked again."""
    runs = ProgramRuns(program, target, options, running)
    try:
        if program.protocol == "gtest":
            return Counted(tuple(GtestCases(runs, on_case).all(known)), "gtest", runs.count)
        outcomes, protocol = _whole(runs)
        for one in outcomes:
            on_case(one.case, one.status)
        return Counted(tuple(outcomes), protocol, runs.count)
    except (WardianError, OSError) as error:
        hint = getattr(error, "hint", None)
        why = f"the sandbox could not be set up: {error}" + (f" ({hint})" if hint else "")
        outcome = SuiteOutcome(PROGRAM_CASE, "not_run", detail=why[:500])
        return Counted((outcome,), program.protocol or "exit", runs.count)


def run_alone(
    program: SuiteProgram,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    *,
    explain: bool = True,
) -> SuiteOutcome | None:
    """One case of a program in a sandbox of its own; None if that could not be had. To explain it,
    if it does not pass and nothing was seen to be refused, it is run once more and watched."""
    outcome = _alone(program, case, target, options, running)
    if outcome is None or outcome.status == "passed" or outcome.refusals:
        return outcome
    if target.name != WARDIAN or not explain:
        return outcome
    watcher = Watcher()
    again = _alone(program, case, target, options, running, watcher.feed)
    if again is None:
        return outcome
    return outcome._replace(refusals=again.refusals, suspect=watcher.suspect)


def _alone(
    program: SuiteProgram,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    on_trace: OnBytes | None = None,
) -> SuiteOutcome | None:
    runs = ProgramRuns(program, target, options, running, on_trace)
    try:
        if program.protocol != "gtest":
            return next((one for one in _whole(runs)[0] if one.case == case), None)
        cases = GtestCases(runs, lambda case, status: None)
        suite = case.partition(".")[0]
        cases.run_cases([case], [case, f"{suite}.(others)"])  # so that the suite is not named whole
        outcome = cases.outcomes.get(case)
        return outcome._replace(refusals=cases.refusals) if outcome is not None else None
    except (WardianError, OSError):
        return None


def _whole(runs: ProgramRuns) -> tuple[list[SuiteOutcome], str]:
    """A program that is one test or prints its own points; and which protocol it used."""
    protocol = runs.program.protocol
    if not runs.options.selection.wants(runs.program.name, PROGRAM_CASE):
        return [], protocol or "exit"
    printed, error = gtest.Excerpt(8 << 20), gtest.Excerpt(KEEP_BYTES)
    ran = runs.run([runs.program.path], lambda data, at_s: printed.add(data), error.add)
    said = text(printed.bytes)
    tap = protocol == "tap" or (not protocol and lines.is_tap(said))
    end = (said[-KEEP_BYTES:] + text(error.bytes))[-KEEP_BYTES:]
    refusals = worth_keeping(ran.result.refusals)
    outcomes = [
        SuiteOutcome(
            one.case, one.status, ran.seconds if one.case == PROGRAM_CASE else 0.0,
            one.detail, (one.output or end)[-KEEP_BYTES:] if one.status != "passed" else "",
            refusals if one.status != "passed" else (),
        )
        for one in _points(runs, ran, said, end, tap=tap)
    ]  # fmt: skip
    return outcomes, "tap" if tap else "exit"


def _points(
    runs: ProgramRuns, ran: Execution, said: str, end: str, *, tap: bool
) -> list[lines.Point]:
    if ran.not_started:
        return [lines.Point(PROGRAM_CASE, "crashed", ran.not_started, end)]
    if ran.late:
        detail = f"it did not end within {runs.options.timeout_s:g} s"
        points = lines.parse_tap(said)[0] if tap else []
        return [*points, lines.Point(PROGRAM_CASE, "timeout", detail, end)]
    if tap:
        return lines.judge_tap(said, ran.end)
    return [lines.Point(PROGRAM_CASE, *lines.judge_exit(ran.end), end)]
