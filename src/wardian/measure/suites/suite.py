"""Run all programs in all targets in parallel; results are stored at once and reused on request."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.suites.comparing import Lost, lost_cases
from wardian.measure.suites.execution import Running, RunOptions
from wardian.measure.suites.keeping import NOT_KEPT, Keeping, key_of, known, whole
from wardian.measure.suites.outcomes import ProgramResult, SuiteOutcome
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.running import run_alone, run_program
from wardian.measure.target import HOST, WARDIAN, Target
from wardian.pool import Workers, pool

MAX_LOOKS = 1000  # cases that are run again by themselves, in each sandbox
MAX_HANGS = 2  # of one program, among those

OnCase = Callable[[str, str, str, str], None]
OnProgram = Callable[[ProgramResult, bool], None]


class OnProgress(NamedTuple):
    """Called with progress: a case (sandbox, program, case, status); a program and whether its
    result was stored already."""

    case: OnCase = lambda sandbox, program, case, status: None
    program: OnProgram = lambda result, kept: None
    second_look: Callable[[int], None] = lambda count: None


NOBODY = OnProgress()


def run_suite(
    programs: Sequence[SuiteProgram],
    targets: Sequence[Target],
    options: RunOptions,
    *,
    jobs: int | None = None,
    keeping: Keeping = NOT_KEPT,
    baseline: str | None = None,
    blame: bool = False,
    on_progress: OnProgress = NOBODY,
) -> list[ProgramResult]:
    """A result for each program and target, in their order. A case that passes in the baseline and
    not elsewhere is then run again alone, in both, to find its cause and to recognise flaky cases;
    to ``blame`` a wall, several times."""
    running = Running()
    pairs = [(program, one) for program in programs for one in targets]

    def one(pair: tuple[SuiteProgram, Target]) -> ProgramResult:
        return _result(*pair, options, running, keeping, on_progress)

    with pool(jobs, name="suite", on_stop=running.stop) as workers:
        found = workers.map(one, pairs)
        if baseline is not None:
            looks = _Looks(pairs, baseline, options, running, keeping, on_progress, workers)
            found = looks.alone(found)
            found = looks.steady(found)
            found = looks.blame(found) if blame else found
    return found


def _result(
    program: SuiteProgram,
    where: Target,
    options: RunOptions,
    running: Running,
    keeping: Keeping,
    on_progress: OnProgress,
) -> ProgramResult:
    key = key_of(program, where, options)
    kept = keeping.kept(where.name, program.name, key)
    if kept is not None and (all_of_it := whole(kept, options)) is not None:
        on_progress.program(all_of_it, True)
        return all_of_it
    began = time.monotonic()

    def on_case(case: str, status: str) -> None:
        on_progress.case(where.name, program.name, case, status)

    before = known(kept, options) if kept is not None else {}
    counted = run_program(program, where, options, running, on_case, before)
    result = ProgramResult(
        program=program.name,
        path=program.path,
        digest=program.digest,
        protocol=counted.protocol,
        sandbox=where.name,
        key=key,
        outcomes=counted.outcomes,
        seconds=time.monotonic() - began,
        runs=counted.runs,
        selected=repr(options.selection),
        timeout_s=options.timeout_s,
    )
    keeping.keep(result)
    on_progress.program(result, False)
    return result


class _Looks:
    """What is run again when all is done, to find out why."""

    def __init__(
        self,
        pairs: Sequence[tuple[SuiteProgram, Target]],
        baseline: str,
        options: RunOptions,
        running: Running,
        keeping: Keeping,
        on_progress: OnProgress,
        workers: Workers,
    ) -> None:
        self.targets = {(program.name, where.name): (program, where) for program, where in pairs}
        self.baseline, self.options, self.running = baseline, options, running
        self.keeping, self.on_progress, self.workers = keeping, on_progress, workers

    def alone(self, found: Sequence[ProgramResult]) -> list[ProgramResult]:
        """The supervisor reports the same refusal once per run, and other cases may disturb a case:
        so each lost case is run by itself, which gives it its own refusals."""
        hung: Counter[tuple[str, str]] = Counter()

        def look(one: Lost, here: SuiteOutcome) -> SuiteOutcome | None:
            program, where = self.targets[one.program, one.sandbox]
            if hung[one.program, one.sandbox] >= MAX_HANGS:
                return None
            alone = run_alone(program, one.case, where, self.options, self.running)
            if alone is None:
                return None
            hung[one.program, one.sandbox] += alone.status == "timeout"
            return _joined(here, alone)

        return self._each(found, _is_open, look)

    def steady(self, found: Sequence[ProgramResult]) -> list[ProgramResult]:
        """What is lost is run by itself in the baseline as well: what fails there now is flaky,
        and says nothing of a sandbox."""
        native = {one.program: one for one in found if one.sandbox == self.baseline}
        lost = {
            (one.program, one.case): one
            for one in lost_cases(found, self.baseline)
            if one.here is not None and not one.besides and not one.unsteady
        }
        todo = [
            (program, outcome)
            for program, result in native.items()
            for outcome in result.outcomes
            if (program, outcome.case) in lost and not outcome.alone and not outcome.of_program
        ][:MAX_LOOKS]
        self.on_progress.second_look(len(todo))

        def one(pair: tuple[str, SuiteOutcome]) -> tuple[str, SuiteOutcome]:
            name, outcome = pair
            program, where = self.targets[name, self.baseline]
            seen = run_alone(program, outcome.case, where, self.options, self.running)
            self.on_progress.case(self.baseline, name, outcome.case, "looked at again")
            return name, outcome._replace(alone=seen.status if seen is not None else "")

        again: dict[str, dict[str, SuiteOutcome]] = {}
        for name, outcome in self.workers.map(one, todo):
            again.setdefault(name, {})[outcome.case] = outcome
        return [
            _changed(one, again.get(one.program, {}), self.keeping)
            if one.sandbox == self.baseline
            else one
            for one in found
        ]

    def blame(self, found: Sequence[ProgramResult]) -> list[ProgramResult]:
        """Only our own walls can be taken away one by one."""
        from wardian.measure.suites.blaming import wall_of

        def look(one: Lost, here: SuiteOutcome) -> SuiteOutcome | None:
            program, where = self.targets[one.program, one.sandbox]
            on_host = self.baseline == HOST
            wall = wall_of(program, here, where, self.options, self.running, on_host=on_host)
            return here._replace(wall=wall)

        def is_open(here: SuiteOutcome) -> bool:
            return not (here.of_program or here.wall or here.alone == "passed")

        ours = [one for one in found if one.sandbox in (WARDIAN, self.baseline)]
        others = [one for one in found if one not in ours]
        done = {
            (one.program, one.sandbox): one for one in [*self._each(ours, is_open, look), *others]
        }
        return [done[one.program, one.sandbox] for one in found]

    def _each(
        self,
        found: Sequence[ProgramResult],
        is_open: Callable[[SuiteOutcome], bool],
        look: Callable[[Lost, SuiteOutcome], SuiteOutcome | None],
    ) -> list[ProgramResult]:
        todo: list[tuple[Lost, SuiteOutcome]] = []
        for name in dict.fromkeys(one.sandbox for one in found):
            lost = [one for one in lost_cases(found, self.baseline) if one.sandbox == name]
            todo += [(one, one.here) for one in lost if one.here and is_open(one.here)][:MAX_LOOKS]
        todo.sort(key=lambda pair: pair[1].status in ("timeout", "not_run"))
        self.on_progress.second_look(len(todo))
        again: dict[tuple[str, str], dict[str, SuiteOutcome]] = {}

        def one(pair: tuple[Lost, SuiteOutcome]) -> None:
            lost, here = pair
            seen = look(lost, here)
            if seen is not None:
                again.setdefault((lost.program, lost.sandbox), {})[lost.case] = seen
            self.on_progress.case(lost.sandbox, lost.program, lost.case, "looked at again")

        self.workers.map(one, todo)
        return [
            _changed(one, again.get((one.program, one.sandbox), {}), self.keeping) for one in found
        ]


def _changed(
    result: ProgramResult, again: Mapping[str, SuiteOutcome], keeping: Keeping
) -> ProgramResult:
    if not again:
        return result
    outcomes = tuple(again.get(one.case, one) for one in result.outcomes)
    result = result._replace(outcomes=outcomes)
    keeping.keep(result)
    return result


def _is_open(here: SuiteOutcome) -> bool:
    """A case of the program itself whose cause another run may show. A case that hung or was given
    up takes long, so it is not run again if its refusals are known."""
    if here.of_program or here.alone:
        return False
    return here.status not in ("timeout", "not_run") or not here.refusals


def _joined(first: SuiteOutcome, alone: SuiteOutcome) -> SuiteOutcome:
    """What was refused to it when it was by itself is the truth about it."""
    if alone.status == "passed":
        return first._replace(alone="passed")
    return first._replace(
        alone=alone.status,
        refusals=alone.refusals,
        suspect=alone.suspect,
        detail=first.detail or alone.detail,
        output=first.output or alone.output,
    )
