"""What is run to learn, and to prove: a command, a skill's script, a case of a skill."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from wardian.errors import UsageError
from wardian.learn.needs import NOTHING, ObservedNeeds, merged, needs_of
from wardian.observe.trace import traced
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.running import Options, run_case
from wardian.runner.invocation import Invocation, under
from wardian.runner.location import Located
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run.protections import with_look_ups
from wardian.sandbox.run.result import Result
from wardian.sandbox.sandbox import Sandbox

MOST_FILES = 100_000
SHOWN = 400


class Attempt(NamedTuple):
    """What came of it. No problems: it passed; ``skipped`` says why it was not run at all."""

    problems: tuple[str, ...] = ()
    skipped: str = ""
    results: tuple[Result, ...] = ()
    needs: ObservedNeeds = NOTHING
    stdout: bytes | None = None


class Subject(Protocol):
    """Something that can be run again and again."""

    @property
    def name(self) -> str: ...

    def attempt(self, policy: Policy, *, watched: bool, learning: bool = False) -> Attempt:
        """Run it under the policy; ``watched`` also returns what it needed. ``learning`` runs have
        the policy that the caller grants. Raises WardianError."""


class Command(NamedTuple):
    """``exit_code`` is what it must end with."""

    argv: tuple[str, ...]
    cwd: str | None = None
    stdin: bytes | None = None
    exit_code: int = 0

    @property
    def name(self) -> str:
        return " ".join(self.argv)

    def attempt(self, policy: Policy, *, watched: bool, learning: bool = False) -> Attempt:
        """See Subject."""
        with Sandbox(with_look_ups(policy), private_work=True) as sandbox:
            return _attempt(sandbox, self.argv, self, watched)


class AssembledSubject(NamedTuple):
    """A script of a skill, or a command with a skill or packages, assembled."""

    name: str
    call: Invocation
    cwd: str | None = None
    stdin: bytes | None = None
    exit_code: int = 0

    def attempt(self, policy: Policy, *, watched: bool, learning: bool = False) -> Attempt:
        """See Subject."""
        with Sandbox(with_look_ups(under(policy, self.call))) as sandbox:
            return _attempt(sandbox, self.call.argv, self, watched)


class CaseSubject(NamedTuple):
    """A case; ``options`` say what the caller grants, and how dependencies are prepared.
    ``with_set_up``: the set-up has the same policy as the script, as `wardian test` has it."""

    skill: Located
    case: SkillCase
    options: Options
    with_set_up: bool = False

    @property
    def name(self) -> str:
        return self.case.name

    def attempt(self, policy: Policy, *, watched: bool, learning: bool = False) -> Attempt:
        """See Subject."""
        runs = _Runs(watched)

        options = self.options._replace(run=runs.run)
        if self.with_set_up:
            options = options._replace(set_up=runs.run, policy=policy)
        elif not learning:
            options = options._replace(narrower=policy)
        (outcome,) = run_case(self.skill, self.case, options)
        if outcome.verdict == "skip":
            return Attempt(skipped=outcome.problems[0])
        return Attempt(outcome.problems, "", tuple(runs.results), merged(runs.needs))


class _Runs:
    """Runs, remembered."""

    def __init__(self, watched: bool) -> None:
        self._watched = watched
        self.results: list[Result] = []
        self.needs: list[ObservedNeeds] = []

    def run(
        self, sandbox: Sandbox, argv: list[str], stdin: bytes | None, cwd: str | None = None
    ) -> Result:
        started = time.time()
        if self._watched:
            trace = traced(sandbox, argv, input=stdin, cwd=cwd)
            self.needs.append(needs_of(trace, _grown(sandbox, started)))
            result = trace.result
        else:
            result = sandbox.run(argv, input=stdin, cwd=cwd)
        self.results.append(result)
        return result


def _attempt(
    sandbox: Sandbox, argv: tuple[str, ...], what: Command | AssembledSubject, watched: bool
) -> Attempt:
    runs = _Runs(watched)
    result = runs.run(sandbox, list(argv), what.stdin, what.cwd)
    problems: tuple[str, ...] = ()
    if result.exit_code != what.exit_code or result.reason != "exited":
        printed = result.stderr.decode("utf-8", "replace")[-SHOWN:].strip()
        why = f"exit code {result.exit_code}, not {what.exit_code} ({result.reason})"
        problems = (f"{why}; it said: {printed}" if printed else why,)
    return Attempt(problems, "", (result,), merged(runs.needs), result.stdout)


def _grown(sandbox: Sandbox, since: float) -> int:
    """How much there is in files of shared places that were written meanwhile."""
    places = [share.path for share in sandbox.policy.shares if share.write]
    try:
        places.append(sandbox.work_path)
    except UsageError:
        pass  # /work is in memory
    size = seen = 0
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                seen += 1
                if seen > MOST_FILES:
                    return size
                try:
                    found = os.lstat(os.path.join(folder, name))
                except OSError:
                    continue
                size += found.st_size if found.st_mtime >= since - 1 else 0
    return size


Say = Callable[[str], None]
