"""Find the wall that blocks a specimen: remove one wall at a time, or leave only one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure import refused
from wardian.measure.blame import (
    ALONE,
    BY_ITSELF,
    FRAME,
    LANDLOCK,
    ROOT,
    SECCOMP,
    WALLS,
    Circumstances,
    Wall,
    alone,
    without,
)
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import Specimen, ships
from wardian.measure.target import HOST, WARDIAN, target
from wardian.sandbox.policy.policy import Policy
from wardian.text import printable

SCHEMA = "wardian.probe-blame/1"


class Trial(NamedTuple):
    """One wall: what was observed without it, None if it could not be taken away, and with no other
    wall but it."""

    wall: Wall
    way: str
    without: Artifact | None
    alone: Artifact | None = None


class Blame(NamedTuple):
    """``blamed`` are the walls that hold it, ``first`` those among all whose answer it was."""

    specimen: Specimen
    baseline: Artifact
    host: Artifact
    trials: tuple[Trial, ...]
    not_tried: tuple[str, ...]
    first: tuple[Wall, ...]
    blamed: tuple[Wall, ...]
    answer: str
    certain: bool


def blame(
    specimen: Specimen,
    policy: Policy,
    env: Mapping[str, str],
    *,
    launcher: str | None = None,
    jobs: int | None = None,
    timeout_s: float = 20.0,
    host_named: bool = False,
) -> Blame:
    """Measure behind all walls, without each, and if that is not conclusive, behind each alone; and
    on the bare host, if the specimen ships with wardian or the host was named."""
    targets = [target(HOST, policy), target(WARDIAN, policy)]
    host, baseline = measure([specimen], targets, env, host_named=host_named, timeout_s=timeout_s)
    # What others' specimens were refused is their own doing: it must not get them that right.
    trusted = host_named or ships(specimen.root)
    seen = Circumstances(env, baseline.refusals if trusted else ())
    ways = [(wall, wall.way(policy, seen, launcher=launcher is not None)) for wall in WALLS]
    tried = [(wall, way) for wall, way in ways if way is not None]
    walls = [wall for wall, _ in tried]

    def measured(*removals: Sequence[Wall]) -> list[Artifact]:
        targets = [without(removed, policy, seen, launcher) for removed in removals]
        return measure([specimen], targets, env, jobs=jobs, timeout_s=timeout_s)

    removals = measured(*([wall] for wall in walls))
    trials = [Trial(wall, way, one) for (wall, way), one in zip(tried, removals, strict=True)]
    bare: Artifact | None = None
    if baseline.observed == "blocked" and not any(_allowed(one.without) for one in trials):
        bare, *only = measured(walls, *(_all_but(walls, wall) for wall in walls))
        if _allowed(bare):
            trials = [one._replace(alone=left) for one, left in zip(trials, only, strict=True)]
    if baseline.observed == "blocked" and _allowed(host) and not _held(trials):
        left = [wall for wall in ALONE if wall not in walls]
        trials += _each_on_the_host(specimen, left, policy, env, timeout_s)
    named = {one.wall.name for one in trials}
    not_tried = tuple(wall.name for wall in WALLS if wall.name not in named)
    blamed, answer, certain = _judge(baseline, host, bare, trials, not_tried)
    first = _first(baseline, trials)
    return Blame(specimen, baseline, host, tuple(trials), not_tried, first, blamed, answer, certain)


def _each_on_the_host(
    specimen: Specimen,
    walls: Sequence[Wall],
    policy: Policy,
    env: Mapping[str, str],
    timeout_s: float,
) -> list[Trial]:
    """Where the host has allowed it already: each of these walls there alone, as far as can be."""
    able = [(wall, where) for wall in walls if (where := alone(wall, policy)) is not None]
    targets = [where for _, where in able]
    found = measure([specimen], targets, env, host_named=True, timeout_s=timeout_s)
    return [
        Trial(wall, BY_ITSELF, None, seen)
        for (wall, _), seen in zip(able, found, strict=True)
        if seen.observed in ("allowed", "blocked")
    ]


def _all_but(walls: Sequence[Wall], wall: Wall) -> list[Wall]:
    kept = (LANDLOCK, ROOT) if wall is LANDLOCK else (wall,)
    return [one for one in walls if one not in kept]


def _allowed(seen: Artifact | None) -> bool:
    return seen is not None and seen.observed == "allowed"


def _held(trials: Sequence[Trial]) -> bool:
    """Is it known which walls hold it?"""
    return any(_allowed(one.without) for one in trials) or bool(_each(trials))


def _judge(
    baseline: Artifact,
    host: Artifact,
    bare: Artifact | None,
    trials: Sequence[Trial],
    not_tried: Sequence[str],
) -> tuple[tuple[Wall, ...], str, bool]:
    """The walls, the answer in words, and whether it is certain."""
    if _allowed(baseline):
        return (), "nothing blocks it: it is allowed", True
    if baseline.observed != "blocked":
        return (), f"there is no outcome to explain: {baseline.cause}", False
    needed = tuple(one.wall for one in trials if _allowed(one.without))
    if needed:
        it = "it" if len(needed) == 1 else "any of them"
        return needed, f"{_names(needed)}: without {it} it is allowed", True
    each = _each(trials)
    if each:
        it = "it blocks this on its own" if len(each) == 1 else "each blocks it on its own"
        return each, f"{_names(each)}: {it}", True
    if bare is not None and _allowed(bare):
        return (), "several walls together: none blocks it alone", False
    if host.observed == "blocked":
        return (), f"none of our walls: the host blocks it too ({host.errno or host.detail})", True
    if not_tried or bare is None or bare.observed != "blocked":
        names = ", ".join(one.wall.name for one in trials)
        return (), f"none of those that could be tried here: {names}", False
    return (FRAME,), f"{_names([FRAME])}: the only ones left when every other wall is removed", True


def _first(baseline: Artifact, trials: Sequence[Trial]) -> tuple[Wall, ...]:
    """Those whose answer it was: without them there is another one, or the supervisor saw it."""
    if baseline.observed != "blocked":
        return ()
    seen = any(one.kind == "syscall" for one in baseline.refusals)
    return tuple(
        one.wall
        for one in trials
        if _answers_otherwise(one, baseline) or (seen and one.wall is SECCOMP)
    )


def _answers_otherwise(trial: Trial, baseline: Artifact) -> bool:
    seen = trial.without
    if (
        seen is None
        or seen.observed not in ("allowed", "blocked")
        or _shown(seen) == _shown(baseline)
    ):
        return False
    # What had to go with a wall (/proc with the pid namespace) may be what is missed now.
    return not (trial.wall.also is not None and seen.errno == "ENOENT")


def _each(trials: Sequence[Trial]) -> tuple[Wall, ...]:
    """Those that block alone; Landlock, which needs the root, only if the root does not."""
    found = {one.wall: one.alone for one in trials if one.alone and one.alone.observed == "blocked"}
    if ROOT in found:
        found.pop(LANDLOCK, None)
    return tuple(found)


def _names(walls: Sequence[Wall]) -> str:
    return ", ".join(f"{wall.name} ({wall.kind})" for wall in walls)


def document(found: Sequence[Blame]) -> dict[str, Any]:
    """The JSON document of ``probe blame``."""
    return {
        "schema": SCHEMA,
        "probes": [
            {
                "id": one.specimen.id,
                "capability": one.specimen.capability,
                "observed": _seen(one.baseline),
                "host": _seen(one.host),
                "first": [{"wall": wall.name, "kind": wall.kind} for wall in one.first],
                "blamed": [{"wall": wall.name, "kind": wall.kind} for wall in one.blamed],
                "answer": one.answer,
                "certain": one.certain,
                "refusals": [refused.text(each) for each in one.baseline.refusals],
                "trials": [
                    {
                        "wall": trial.wall.name,
                        "kind": trial.wall.kind,
                        "by": trial.way,
                        "without": _seen(trial.without),
                        "alone": _seen(trial.alone),
                    }
                    for trial in one.trials
                ],
                "not_tried": list(one.not_tried),
            }
            for one in found
        ],
    }


def _seen(one: Artifact | None) -> dict[str, Any] | None:
    if one is None:
        return None
    keys = ("observed", "errno", "detail", "cause")
    return {key: getattr(one, key) for key in keys}


def lines(one: Blame, *, verbose: bool) -> list[str]:
    """What a person reads."""
    printed = [f"{one.specimen.id}: {_shown(one.baseline)}", f"  {printable(one.answer)}"]
    if one.first and one.first != one.blamed:
        printed.append(f"  first refused by {_names(one.first)}")
    printed += [f"  seen by the supervisor: {printable(text)}" for text in _relevant(one.baseline)]
    if verbose:
        for trial in one.trials:
            gone = _shown(trial.without) if trial.without is not None else "not tried"
            only = f"   alone: {_shown(trial.alone)}" if trial.alone is not None else ""
            printed.append(f"  without {trial.wall.name:<18} {gone}{only}")
    if one.not_tried:
        printed.append(f"  not tried: {', '.join(one.not_tried)} (no policy gives them up)")
    return printed


def _relevant(one: Artifact) -> list[str]:
    """What an interpreter looks for at its start comes first; what was asked about, last."""
    calls = [each for each in one.refusals if each.kind == "syscall"]
    return [refused.text(each) for each in calls[-2:] or one.refusals[-1:]]


def _shown(one: Artifact) -> str:
    return " ".join(filter(None, (one.observed or one.status, one.errno)))
