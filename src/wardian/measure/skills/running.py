"""A case of a skill in a sandbox: what came of it; or, traced, which calls it makes and files it
uses."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from wardian.measure.outcome import Outcome
from wardian.measure.refused import MAX_REFUSALS, stored
from wardian.observe.trace import Trace, traced
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.reading import DEFAULT_FILE, read_cases
from wardian.runner.cases.running import CaseOutcome, Options, plain_run, run_case
from wardian.runner.location import located
from wardian.sandbox.backends import fitted
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.refusals.ranking import is_routine
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox

MAX_OUTPUT = 2000
MAX_FILES = 200
Run = Callable[[Sandbox, list[str], bytes | None], Result]


def measure_case(skill: str, name: str, backend: str, policy: Policy) -> tuple[Outcome, float]:
    """What came of it, and the seconds it took. Raises WardianError, OSError, ValueError."""
    results: list[Result] = []

    def run(sandbox: Sandbox, command: list[str], stdin: bytes | None) -> Result:
        results.append(plain_run(sandbox, command, stdin))
        return results[-1]

    done = _run(skill, name, backend, policy, run)
    return _outcome(done, results), round(done.seconds, 4)


def trace_case(skill: str, name: str, backend: str, policy: Policy) -> tuple[Outcome, float]:
    """The same with ``syscalls`` and ``files`` in the evidence. Raises as ``measure_case``."""
    traces: list[Trace] = []

    def run(sandbox: Sandbox, command: list[str], stdin: bytes | None) -> Result:
        traces.append(traced(sandbox, command, input=stdin))
        return traces[-1].result

    done = _run(skill, name, backend, policy, run)
    outcome = _outcome(done, [one.result for one in traces])
    calls = sorted({total.name for one in traces for total in one.syscalls})
    files = sorted({file.path for one in traces for file in one.files})
    evidence = {**outcome.evidence, "syscalls": calls, "files": files[:MAX_FILES]}
    # Watching takes time and memory of its own: what fails only when watched is no failure.
    status = "ok" if calls or done.verdict == "pass" else done.verdict
    return outcome._replace(status=status, evidence=evidence), round(done.seconds, 4)


def _run(skill: str, name: str, backend: str, policy: Policy, run: Run) -> CaseOutcome:
    options = Options(
        backends=(backend,), say=lambda text: None, policy=policy, at_best=fitted, run=run
    )
    with located(skill) as found:
        (outcome,) = run_case(found, _case(skill, name), options)
    return outcome


def _case(skill: str, name: str) -> SkillCase:
    for one in read_cases(os.path.join(skill, DEFAULT_FILE)):
        if one.name == name:
            return one
    raise ValueError(f"there is no case {name!r} any more")


def _outcome(done: CaseOutcome, results: list[Result]) -> Outcome:
    evidence: dict[str, Any] = {}
    if done.problems:
        evidence["problems"] = [one[:MAX_OUTPUT] for one in done.problems[:10]]
    refusals = [one for result in results for one in result.refusals if not is_routine(one)]
    if refusals:
        evidence["refusals"] = [stored(one) for one in refusals[:MAX_REFUSALS]]
    if done.observed is not None and done.verdict != "pass":
        evidence["exit"] = done.observed.exit
        evidence["reason"] = done.observed.reason
        evidence["stdout"] = done.observed.stdout[-MAX_OUTPUT:]
        evidence["stderr"] = done.observed.stderr[-MAX_OUTPUT:]
    cause = done.problems[0] if done.problems else ""
    return Outcome(done.verdict, cause[:MAX_OUTPUT], "", None, None, evidence)
