"""Find the wall that blocks a lost case: run it alone, without each wall in turn.

The walls, and the ways to take one away, are those of ``wardian.measure.blame``. A case that no
single wall explains is tried without two: what the syscall filter or Landlock refuses, another wall
often refuses as well. A wall that no policy can remove is tried as the only wall on the host. A
wall is named only if the case passed without it, or failed behind it alone; otherwise the walls
that were tried are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wardian.measure.blame import (
    ALONE,
    LANDLOCK,
    PID,
    ROOT,
    SECCOMP,
    WALLS,
    Circumstances,
    Wall,
    alone,
    launcher_for_tests,
    without,
)
from wardian.measure.refused import likely
from wardian.measure.suites.comparing import NOT_FOUND
from wardian.measure.suites.execution import Running, RunOptions
from wardian.measure.suites.outcomes import SuiteOutcome
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.running import run_alone
from wardian.measure.target import Target
from wardian.sandbox.policy.policy import Policy

# A case that hangs behind a wall hangs behind most: it need not do so for long.
LONGEST_S, MAX_HANGS = 10.0, 4
# The kind of a refusal → the wall that mostly is behind it.
_LIKELY = {"limit": "limits", "network": "namespace.network", "file": ROOT.name}
HANGS = f"{NOT_FOUND}: it hangs"


def wall_of(
    program: SuiteProgram,
    here: SuiteOutcome,
    target: Target,
    options: RunOptions,
    running: Running,
    *,
    on_host: bool,
) -> str:
    """The name of the wall, or of two; else what was tried. ``on_host``: the case passes there."""
    launcher = launcher_for_tests()
    # What ran on the host already may have what it was refused; nobody else is granted anything.
    seen = Circumstances(refusals=here.refusals if on_host else ())
    quick = options._replace(timeout_s=min(options.timeout_s, LONGEST_S))
    hung = 0
    tried: dict[str, None] = {}
    for walls in _trials(here, target.policy, seen, launcher):
        # The guest's root can't be left out and its paths be the same: what is missing is shared.
        able = None if ROOT in walls else launcher
        weaker = without(walls, target.policy, seen, able)
        outcome = run_alone(program, here.case, weaker, quick, running, explain=False)
        if outcome is not None and outcome.status == "passed":
            return " and ".join(wall.name for wall in walls)
        if outcome is not None:
            tried |= dict.fromkeys(wall.name for wall in walls)
        hung += outcome is not None and outcome.status == "timeout"
        if hung == MAX_HANGS:
            return HANGS
    for wall in ALONE if on_host and launcher is None else ():
        only = alone(wall, target.policy)
        outcome = only and run_alone(program, here.case, only, quick, running, explain=False)
        if outcome:
            tried[wall.name] = None
            if outcome.status != "passed":
                return f"{wall.name}, by itself"
    return not_found(tried)


def not_found(tried: Sequence[str] | dict[str, None]) -> str:
    """None was found, and these were tried."""
    if not tried:
        return f"{NOT_FOUND}: no wall could be taken away"
    return f"{NOT_FOUND}: none of {', '.join(tried)}"


def _trials(
    here: SuiteOutcome, policy: Policy, seen: Circumstances, launcher: str | None
) -> Iterator[Sequence[Wall]]:
    """The likely one first. Without namespace.pid nothing ends what a case leaves running: it
    would be left on the host."""
    there = [
        wall
        for wall in WALLS
        if wall is not PID
        and wall.way(policy, seen, launcher=launcher is not None and wall is not ROOT)
    ]
    refusal = likely(here.refusals)
    first = _LIKELY.get(refusal.kind) if refusal is not None else None
    ordered = sorted(there, key=lambda wall: wall.name != first)
    yield from ([wall] for wall in ordered)
    # Those that take something else away with them come last.
    others = sorted(ordered, key=lambda wall: wall.also is not None)
    for one, kinds in ((SECCOMP, None), (LANDLOCK, "mount")):
        if one in there:
            yield from (
                [one, wall]
                for wall in others
                if wall not in (SECCOMP, one) and kinds in (None, wall.kind)
            )
