"""Which wall it is that a lost case meets: it is run by itself without each wall in turn.

The walls and the ways to take one away are those of ``wardian probe blame``. A case that no single
wall explains is tried without two: what the syscall filter or Landlock refuses, another wall often
refuses as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wardian.measure.probes.blame import (
    LANDLOCK,
    ROOT,
    SECCOMP,
    WALLS,
    Wall,
    launcher_for_tests,
    without,
)
from wardian.measure.suites.comparing import likely
from wardian.measure.suites.outcomes import Outcome
from wardian.measure.suites.programs import Program
from wardian.measure.suites.running import Running, RunOptions, run_alone
from wardian.measure.target import Target

# A case that hangs behind a wall hangs behind most: it need not do so for long.
LONGEST_S, MAX_HANGS = 10.0, 4
# What is left when no other wall explains it.
FRAME = "own root, namespace.user, namespace.pid or no_new_privs"
# Without it, nothing ends what a case leaves running: it would be left on the host.
KEPT = "namespace.pid"
# The kind of a refusal → the wall that mostly is behind it.
_LIKELY = {"limit": "limits", "network": "namespace.network", "file": "read-only mounts"}
HANGS = "not found: it hangs"
NOT_FOUND = "none that a policy can give up"


def wall_of(
    program: Program, here: Outcome, target: Target, options: RunOptions, running: Running
) -> str:
    """The name of the wall, or of two; what is left by elimination, where all could be tried."""
    launcher = launcher_for_tests()
    quick = options._replace(timeout_s=min(options.timeout_s, LONGEST_S))
    hung = 0
    for walls in _trials(here, launcher):
        weaker = without(walls, target.policy, {}, launcher)
        seen = run_alone(program, here.case, weaker, quick, running, explain=False)
        if seen is not None and seen.status == "passed":
            return " and ".join(wall.name for wall in walls)
        hung += seen is not None and seen.status == "timeout"
        if hung == MAX_HANGS:
            return HANGS
    refusal = likely(here.refusals)
    if refusal is not None and refusal.kind == "file":
        return ROOT.name  # the guest's root can't be left out and its paths be the same
    return FRAME if launcher is not None else NOT_FOUND


def _trials(here: Outcome, launcher: str | None) -> Iterator[Sequence[Wall]]:
    """The likely one first."""
    there = [
        wall
        for wall in WALLS
        if wall is not ROOT and wall.name != KEPT and wall.way(launcher=launcher is not None)
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
