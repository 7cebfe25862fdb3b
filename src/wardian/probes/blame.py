"""Which wall blocked it: found by taking walls away one at a time, and by leaving one standing.

A launcher that can leave walls out is built for tests only, and is used where it is there; without
it, what a policy can give up is tried, and what could not be tried is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.probes.artifact import Artifact
from wardian.probes.expectations import Profile
from wardian.probes.running import measure
from wardian.probes.sandboxes import HOST, Setting, version
from wardian.probes.specimen import HERE, Specimen
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.landlock import FEATURES
from wardian.sandbox.policy import Limits, Policy, Share
from wardian.sandbox.records import record
from wardian.sandbox.sandbox import Sandbox
from wardian.text import printable

SCHEMA = "wardian.probe-blame/1"
WARDIAN = "wardian"
TEST_LAUNCHER = os.path.join(HERE, "..", "..", "..", "core", "build", "wardian-launch-test")
NO_EXPECTATIONS = Profile("none", "", {}, {}, {})

ChangePolicy = Callable[[Policy, Mapping[str, str]], Policy]


class Wall(NamedTuple):
    """A wall, and the ways to take it away: flags of the test launcher, or a weaker policy."""

    name: str
    kind: str
    flags: tuple[str, ...] = ()
    policy: ChangePolicy | None = None

    def way(self, *, launcher: bool) -> str | None:
        """How it is taken away here; None if it can't be."""
        if launcher and self.flags:
            return "launcher"
        return "policy" if self.policy is not None else None


def _allow_all_syscalls(policy: Policy, env: Mapping[str, str]) -> Policy:
    from wardian.syscalls import rows

    names = tuple(row.name for row in rows() if row.kind != "allow")
    return policy.but(allow_syscalls=names, deny_syscalls=())


def _no_landlock(policy: Policy, env: Mapping[str, str]) -> Policy:
    names = tuple(dict(FEATURES))
    return policy.but(degrade=tuple(dict.fromkeys((*policy.degrade, *names))))


def _host_network(policy: Policy, env: Mapping[str, str]) -> Policy:
    return policy.but(network="host")


def _no_limits(policy: Policy, env: Mapping[str, str]) -> Policy:
    return policy.but(limits=Limits())


def _share_witnesses(policy: Policy, env: Mapping[str, str]) -> Policy:
    path = env.get("PROBE_HOST_FILE")
    folder = os.path.dirname(path) if path else ""
    return policy.with_shares([Share(folder, folder, True)]) if folder else policy


# Every wall that can be taken away by itself, outermost first.
WALLS = (
    Wall("seccomp", "seccomp", ("seccomp",), _allow_all_syscalls),
    Wall("landlock", "landlock", ("landlock",), _no_landlock),
    Wall("namespace.network", "namespace", ("network",), _host_network),
    Wall("namespace.pid", "namespace", ("pid",)),
    Wall("namespace.ipc", "namespace", ("ipc",)),
    Wall("namespace.uts", "namespace", ("uts",)),
    Wall("namespace.cgroup", "namespace", ("cgroup",)),
    Wall("own root", "mount", (), _share_witnesses),
    Wall("read-only mounts", "mount", ("readonly",)),
    Wall("nosuid, nodev", "mount", ("nosuid",)),
    Wall("masks", "mount", ("mask",)),
    Wall("pivot_root", "mount", ("pivot",)),
    Wall("identity", "capability", ("identity",)),
    Wall("capabilities", "capability", ("capabilities",)),
    Wall("sysctl", "namespace", ("sysctl",)),
    Wall("descriptors", "process", ("close",)),
    Wall("session", "process", ("session",)),
    Wall("not dumpable", "process", ("dumpable",)),
    Wall("limits", "rlimit", ("rlimits", "watch"), _no_limits),
)


class Trial(NamedTuple):
    """One wall: what was observed without it, and with no other wall but it."""

    wall: Wall
    way: str
    without: Artifact
    alone: Artifact | None = None


class Blame(NamedTuple):
    """``blamed`` are the walls; ``certain`` is False where the answer is what is left over."""

    specimen: Specimen
    baseline: Artifact
    host: Artifact
    trials: tuple[Trial, ...]
    not_tried: tuple[str, ...]
    blamed: tuple[Wall, ...]
    answer: str
    certain: bool


def launcher_for_tests(given: str | None = None) -> str | None:
    """The launcher that can leave walls out, if it is there."""
    path = os.path.realpath(given or TEST_LAUNCHER)
    return path if os.access(path, os.X_OK) else None


def blame(
    specimen: Specimen,
    policy: Policy,
    env: Mapping[str, str],
    *,
    launcher: str | None = None,
    jobs: int | None = None,
    timeout_s: float = 20.0,
) -> Blame:
    """Measure behind all walls, without each, and behind each alone."""
    ways = [(wall, wall.way(launcher=launcher is not None)) for wall in WALLS]
    tried = [(wall, way) for wall, way in ways if way is not None]
    walls = [wall for wall, _ in tried]

    def setting(removed: Iterable[Wall]) -> Setting:
        return without(list(removed), policy, env, launcher)

    rounds = [setting(()), _host(policy), *(setting([wall]) for wall in walls)]
    baseline, host, *removals = measure([specimen], rounds, env, jobs=jobs, timeout_s=timeout_s)
    trials = [Trial(wall, way, seen) for (wall, way), seen in zip(tried, removals, strict=True)]
    if baseline.observed == "blocked" and not any(_allowed(one.without) for one in trials):
        others = [setting([w for w in walls if w is not wall]) for wall in walls]
        alone = measure([specimen], [setting(walls), *others], env, jobs=jobs, timeout_s=timeout_s)
        if _allowed(alone[0]):
            trials = [one._replace(alone=seen) for one, seen in zip(trials, alone[1:], strict=True)]
    not_tried = tuple(wall.name for wall, way in ways if way is None)
    blamed, answer, certain = _judge(baseline, host, trials, not_tried)
    return Blame(specimen, baseline, host, tuple(trials), not_tried, blamed, answer, certain)


def without(
    walls: Sequence[Wall], policy: Policy, env: Mapping[str, str], launcher: str | None
) -> Setting:
    """wardian without some of its walls; they are taken away by the launcher where it can."""
    flags: list[str] = []
    for wall in walls:
        if wall.way(launcher=launcher is not None) == "launcher":
            flags += wall.flags
        elif wall.policy is not None:
            policy = wall.policy(policy, env)

    def make(final: Policy, backend: str) -> Sandbox:
        sandbox = Sandbox.create(final, backend=backend)
        if flags and launcher is not None:
            extra = b"".join(record("flag", f"without-{flag}") for flag in flags)
            sandbox._backend = Wardian(binary=launcher, extra=extra)
        return sandbox

    return Setting(WARDIAN, NO_EXPECTATIONS, policy, version(WARDIAN), make)


def _host(policy: Policy) -> Setting:
    return Setting(HOST, NO_EXPECTATIONS, policy, version(HOST))


def _allowed(seen: Artifact) -> bool:
    return seen.observed == "allowed"


def _judge(
    baseline: Artifact, host: Artifact, trials: Sequence[Trial], not_tried: Sequence[str]
) -> tuple[tuple[Wall, ...], str, bool]:
    if _allowed(baseline):
        return (), "nothing blocks it: it is allowed", True
    if baseline.observed != "blocked":
        return (), f"there is no answer to blame anyone for: {baseline.cause}", False
    needed = tuple(one.wall for one in trials if _allowed(one.without))
    if needed:
        names = _names(needed)
        return (
            needed,
            f"{names}: without {'it' if len(needed) == 1 else 'any of them'} it is allowed",
            True,
        )
    each = tuple(
        one.wall for one in trials if one.alone is not None and one.alone.observed == "blocked"
    )
    if each:
        return each, f"{_names(each)}: each blocks it alone", True
    if any(one.alone is not None for one in trials):
        return (), "several walls together: none of them alone blocks it", False
    if host.observed == "blocked":
        return (), f"no wall of ours: the host blocks it too ({host.errno or host.detail})", True
    left = f"; not tried: {', '.join(not_tried)}" if not_tried else ""
    return (), f"a wall that can't be taken away: it is the sandbox's own frame{left}", False


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
                "blamed": [{"wall": wall.name, "kind": wall.kind} for wall in one.blamed],
                "answer": one.answer,
                "certain": one.certain,
                "refusals": list(one.baseline.refusals),
                "trials": [
                    {
                        "wall": trial.wall.name,
                        "kind": trial.wall.kind,
                        "by": trial.way,
                        "without": _seen(trial.without),
                        "alone": _seen(trial.alone) if trial.alone is not None else None,
                    }
                    for trial in one.trials
                ],
                "not_tried": list(one.not_tried),
            }
            for one in found
        ],
    }


def _seen(one: Artifact) -> dict[str, Any]:
    keys = ("observed", "errno", "detail", "cause")
    return {key: getattr(one, key) for key in keys}


def lines(one: Blame, *, verbose: bool) -> list[str]:
    """What a person reads."""
    told = [f"{one.specimen.id}: {_told(one.baseline)}", f"  {printable(one.answer)}"]
    told += [f"  seen by the supervisor: {printable(text)}" for text in one.baseline.refusals[:3]]
    if verbose:
        for trial in one.trials:
            alone = f"   alone: {_told(trial.alone)}" if trial.alone is not None else ""
            told.append(f"  without {trial.wall.name:<18} {_told(trial.without)}{alone}")
    if one.not_tried:
        told.append(f"  not tried: {', '.join(one.not_tried)} (they need the launcher for tests)")
    return told


def _told(one: Artifact) -> str:
    return " ".join(filter(None, (one.observed or one.status, one.errno)))
