"""Which wall it is that a lost case meets: it is run by itself without each wall in turn.

The walls and the ways to take one away are those of ``wardian probe blame``. A case that no single
wall explains is tried without the syscall filter and one other: what the filter refuses, another
wall often refuses as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wardian.probes.blame import ROOT, SECCOMP, WALLS, Wall, launcher_for_tests, without
from wardian.suites.comparing import likely
from wardian.suites.outcomes import Outcome
from wardian.suites.programs import Program
from wardian.suites.running import Place, Running, Way, run_alone

# A case that hangs behind a wall hangs behind most: it need not do so for long.
LONGEST_S = 10.0
# What is left when no other wall explains it.
FRAME = "own root, namespace.user or no_new_privs"
# The kind of a refusal → the wall that mostly is behind it.
_LIKELY = {"limit": "limits", "network": "namespace.network", "file": "read-only mounts"}
NOT_FOUND = "none that a policy can give up"


def wall_of(program: Program, here: Outcome, place: Place, way: Way, running: Running) -> str:
    """The name of the wall, or of two; what is left by elimination, where all could be tried."""
    launcher = launcher_for_tests()
    quick = way._replace(timeout_s=min(way.timeout_s, LONGEST_S))
    for walls in _trials(here, launcher):
        setting = without(walls, place.policy, {}, launcher)
        weaker = place._replace(policy=setting.policy, make=setting.make)
        seen = run_alone(program, here.case, weaker, quick, running, explain=False)
        if seen is not None and seen.status == "passed":
            return " and ".join(wall.name for wall in walls)
    refusal = likely(here.refusals)
    if refusal is not None and refusal.kind == "file":
        return ROOT.name  # the guest's root can't be left out and its paths be the same
    return FRAME if launcher is not None else NOT_FOUND


def _trials(here: Outcome, launcher: str | None) -> Iterator[Sequence[Wall]]:
    """The likely one first."""
    there = [wall for wall in WALLS if wall is not ROOT and wall.way(launcher=launcher is not None)]
    refusal = likely(here.refusals)
    first = _LIKELY.get(refusal.kind) if refusal is not None else None
    ordered = sorted(there, key=lambda wall: wall.name != first)
    yield from ([wall] for wall in ordered)
    if SECCOMP in there:
        yield from ([SECCOMP, wall] for wall in ordered if wall is not SECCOMP)
