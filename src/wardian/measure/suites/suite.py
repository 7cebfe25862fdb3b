"""All programs in all sandboxes, some at a time; kept as they come, and not run again if asked so.

A result depends on the program, the sandbox, the policy and the way: together they are its key.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import InputError
from wardian.measure.suites.comparing import Lost, lost_cases
from wardian.measure.suites.outcomes import Outcome, ProgramResult
from wardian.measure.suites.programs import Program
from wardian.measure.suites.running import Running, RunOptions, Stopped, run_alone, run_program
from wardian.measure.target import Target
from wardian.pool import Pool, pool
from wardian.sandbox.paths.whole_files import write_whole

MAX_KEPT_BYTES = 256 << 20
MAX_LOOKS = 1000  # cases that are run again by themselves, in each sandbox
MAX_HANGS = 2  # of one program, among those

OnCase = Callable[[str, str, str, str], None]
OnProgram = Callable[[ProgramResult, bool], None]


class Hearing(NamedTuple):
    """Who hears of progress: of a case (sandbox, program, case, status), and of a program and
    whether its result was there already."""

    on_case: OnCase = lambda sandbox, program, case, status: None
    on_program: OnProgram = lambda result, kept: None
    on_second_look: Callable[[int], None] = lambda count: None


class Keeping(NamedTuple):
    """Where results are kept, and whether those that are there count."""

    directory: str | None = None
    resume: bool = False


NOBODY, NOT_KEPT = Hearing(), Keeping()


def run_suite(
    programs: Sequence[Program],
    targets: Sequence[Target],
    options: RunOptions,
    *,
    jobs: int | None = None,
    keeping: Keeping = NOT_KEPT,
    baseline: str | None = None,
    blame: bool = False,
    hearing: Hearing = NOBODY,
) -> list[ProgramResult]:
    """A result for each program and sandbox, in their order. What passes in the baseline and not
    elsewhere is then run once more by itself, so that its cause stands beside it; to ``blame``
    a wall, several times."""
    running = Running()
    pairs = [(program, one) for program in programs for one in targets]

    def one(pair: tuple[Program, Target]) -> ProgramResult:
        return _result(*pair, options, running, keeping, hearing)

    with pool(jobs, name="suite", on_stop=running.stop) as workers:
        found = workers.map(one, pairs)
        if baseline is not None:
            looks = _Looks(pairs, baseline, options, running, keeping, hearing, workers)
            found = looks.alone(found)
            found = looks.blame(found) if blame else found
    return found


def _result(
    program: Program,
    where: Target,
    options: RunOptions,
    running: Running,
    keeping: Keeping,
    hearing: Hearing,
) -> ProgramResult:
    key = key_of(program, where, options)
    if keeping.resume and keeping.directory is not None:
        kept = read_kept(keeping.directory, where.name, program.name, key)
        if kept is not None:
            hearing.on_program(kept, True)
            return kept
    began = time.monotonic()

    def on_case(case: str, status: str) -> None:
        hearing.on_case(where.name, program.name, case, status)

    counted = run_program(program, where, options, running, on_case)
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
    )
    if keeping.directory is not None:
        keep(keeping.directory, result)
    hearing.on_program(result, False)
    return result


class _Looks:
    """What is run again when all is done, to find out why."""

    def __init__(
        self,
        pairs: Sequence[tuple[Program, Target]],
        baseline: str,
        options: RunOptions,
        running: Running,
        keeping: Keeping,
        hearing: Hearing,
        workers: Pool,
    ) -> None:
        self.places = {(program.name, where.name): (program, where) for program, where in pairs}
        self.baseline, self.options, self.running = baseline, options, running
        self.keeping, self.hearing, self.workers = keeping, hearing, workers

    def alone(self, found: Sequence[ProgramResult]) -> list[ProgramResult]:
        """The supervisor tells the same thing once in a run, and what runs beside it may disturb a
        case: so each lost one is run by itself, which gives it the refusals that are its own."""
        hung: Counter[tuple[str, str]] = Counter()

        def look(one: Lost, here: Outcome) -> Outcome | None:
            program, where = self.places[one.program, one.sandbox]
            if hung[one.program, one.sandbox] >= MAX_HANGS:
                return None
            alone = run_alone(program, one.case, where, self.options, self.running)
            if alone is None:
                return None
            hung[one.program, one.sandbox] += alone.status == "timeout"
            return _joined(here, alone)

        return self._each(found, _is_open, look)

    def blame(self, found: Sequence[ProgramResult]) -> list[ProgramResult]:
        """Only our own walls can be taken away one by one."""
        from wardian.measure.suites.blaming import wall_of

        def look(one: Lost, here: Outcome) -> Outcome | None:
            program, where = self.places[one.program, one.sandbox]
            return here._replace(wall=wall_of(program, here, where, self.options, self.running))

        def is_open(here: Outcome) -> bool:
            return not (here.of_program or here.wall or here.alone == "passed")

        ours = [one for one in found if one.sandbox in ("wardian", self.baseline)]
        others = [one for one in found if one not in ours]
        done = {
            (one.program, one.sandbox): one for one in [*self._each(ours, is_open, look), *others]
        }
        return [done[one.program, one.sandbox] for one in found]

    def _each(
        self,
        found: Sequence[ProgramResult],
        is_open: Callable[[Outcome], bool],
        look: Callable[[Lost, Outcome], Outcome | None],
    ) -> list[ProgramResult]:
        todo: list[tuple[Lost, Outcome]] = []
        for name in dict.fromkeys(one.sandbox for one in found):
            lost = [one for one in lost_cases(found, self.baseline) if one.sandbox == name]
            todo += [(one, one.here) for one in lost if one.here and is_open(one.here)][:MAX_LOOKS]
        todo.sort(key=lambda pair: pair[1].status in ("timeout", "not_run"))
        self.hearing.on_second_look(len(todo))
        again: dict[tuple[str, str], dict[str, Outcome]] = {}

        def one(pair: tuple[Lost, Outcome]) -> None:
            lost, here = pair
            seen = look(lost, here)
            if seen is not None:
                again.setdefault((lost.program, lost.sandbox), {})[lost.case] = seen
            self.hearing.on_case(lost.sandbox, lost.program, lost.case, "looked at again")

        self.workers.map(one, todo)
        return [
            _changed(one, again.get((one.program, one.sandbox), {}), self.keeping) for one in found
        ]


def _changed(
    result: ProgramResult, again: Mapping[str, Outcome], keeping: Keeping
) -> ProgramResult:
    if not again:
        return result
    outcomes = tuple(again.get(one.case, one) for one in result.outcomes)
    result = result._replace(outcomes=outcomes)
    if keeping.directory is not None:
        keep(keeping.directory, result)
    return result


def _is_open(here: Outcome) -> bool:
    """A case of the program's own whose cause another run may tell. One that hung, or was given up,
    takes long: once it is known what was refused, that will do."""
    if here.of_program or here.alone:
        return False
    return here.status not in ("timeout", "not_run") or not here.refusals


def _joined(first: Outcome, alone: Outcome) -> Outcome:
    """What was refused to it when it was by itself is the truth about it."""
    if alone.status == "passed":
        return first._replace(alone="passed")
    return first._replace(
        alone=alone.status,
        refusals=alone.refusals,
        detail=first.detail or alone.detail,
        output=first.output or alone.output,
    )


# What is kept


def key_of(program: Program, where: Target, options: RunOptions) -> str:
    """Names all that a result depends on."""
    parts = [program.name, program.path, program.digest, program.protocol, where.name]
    parts += [where.version, where.policy.digest, repr(options), str(os.geteuid())]
    return "sha256:" + hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _file(directory: str, sandbox: str, program: str) -> str:
    return os.path.join(directory, sandbox, program.replace("/", "__") + ".json")


def keep(directory: str, result: ProgramResult) -> None:
    """Write it, whole or not at all."""
    path = _file(directory, result.sandbox, result.program)
    write_whole(path, json.dumps(result.document(), indent=1) + "\n")


def read_kept(directory: str, sandbox: str, program: str, key: str) -> ProgramResult | None:
    """What was kept under that key; None if there is nothing, or it is something else."""
    try:
        with open(_file(directory, sandbox, program), "rb") as file:
            data = file.read(MAX_KEPT_BYTES + 1)
        result = ProgramResult.read(json.loads(data)) if len(data) <= MAX_KEPT_BYTES else None
    except (OSError, ValueError, RecursionError, InputError):
        return None
    return result if result is not None and result.key == key else None


__all__ = ["Hearing", "Keeping", "Stopped", "keep", "key_of", "read_kept", "run_suite"]
