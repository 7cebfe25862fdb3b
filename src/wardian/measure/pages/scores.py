"""Two figures for each sandbox: the attacks it stops, and the programs and skills that work in it.
Never one figure for both: a bare host runs everything, and stops nothing. Pure.

An attack is a probe that wardian's expectations say must be blocked; a program is one that they
say must work. Both mean the same cases in every sandbox, whatever is expected of that sandbox.
Specimens of system calls and of the fuzzer count in neither: they compare behaviour.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.campaign.units import BEHAVIOUR, OURS
from wardian.measure.case import Case
from wardian.measure.outcome import health
from wardian.measure.pages.facts import Facts
from wardian.measure.store.model import Measurement
from wardian.measure.target import HOST

ATTACK, PROGRAM, SKILL = "attack", "program", "skill"
FUZZED = "fuzz__"
# Status of a probe → what was seen.
_SEEN = {
    "supported": "allowed",
    "allowed_unexpected": "allowed",
    "blocked_expected": "blocked",
    "blocked_unexpected": "blocked",
}
_EXPECTED = {
    "supported": "allowed",
    "blocked_unexpected": "allowed",
    "blocked_expected": "blocked",
    "allowed_unexpected": "blocked",
}
NEARLY_ALL = 0.9  # of the cases: with fewer, a sandbox is not ranked


class Score(NamedTuple):
    """``good`` of ``asked`` cases; ``delta`` against the campaign compared with, over the cases
    that both have."""

    good: int
    asked: int
    delta: int | None = None

    @property
    def share(self) -> float:
        return self.good / self.asked if self.asked else 0.0


class SandboxScore(NamedTuple):
    """The two figures of a sandbox, and what the second is made of."""

    sandbox: str
    version: str
    stopped: Score
    working: Score
    programs: Score
    skills: Score


class Roles:
    """Which probe is an attack and which a program, by its name."""

    def __init__(self, facts: Facts) -> None:
        ours = {one.case.name: _expected(one) for one in facts.of("probe", OURS)}
        self._of = {
            one.case.name: ours.get(one.case.name) or _shipped().get(one.case.name, "any")
            for one in facts.of("probe")
            if one.case.group != BEHAVIOUR and not one.case.name.startswith(FUZZED)
        }

    def of(self, kind: str, name: str) -> str:
        """attack, program or skill; empty for what counts in neither figure."""
        if kind == "probe":
            return {"blocked": ATTACK, "allowed": PROGRAM}.get(self._of.get(name, ""), "")
        return SKILL if kind == "skill" else ""

    def is_good(self, kind: str, name: str, status: str) -> bool | None:
        """An attack that was blocked, a program or skill that works; None if it does not count."""
        role = self.of(kind, name)
        if not role or health(status) == "absent":
            return None
        if role == SKILL:
            return health(status) == "good"
        return _SEEN.get(status) == ("blocked" if role == ATTACK else "allowed")

    def moved(self, case: Case, was: str, now: str) -> int:
        """1 if a status is better than the one before, -1 if it is worse, 0 if neither. An attack
        that is no longer stopped is worse, whatever is expected in that sandbox."""
        good = [self.is_good(case.kind, case.name, status) for status in (was, now)]
        if None in good:
            good = [health(status) == "good" for status in (was, now)]
        return int(bool(good[1])) - int(bool(good[0]))


def _expected(result: Measurement) -> str:
    artifact = result.outcome.evidence.get("artifact")
    if isinstance(artifact, dict) and artifact.get("expected"):
        return str(artifact["expected"])
    return _EXPECTED.get(result.status, "")


@functools.cache
def _shipped() -> Mapping[str, str]:
    """What wardian's own profile expects, for probes that were not measured in wardian."""
    from wardian.measure.probes.expectations import read_profile
    from wardian.measure.probes.specimen import find_specimens, probes_dir

    profile = read_profile(OURS)
    return {one.id: profile.of(one).expect for one in find_specimens(probes_dir())}


def scores(facts: Facts) -> list[SandboxScore]:
    """Of every sandbox, in the order of columns."""
    roles = Roles(facts)
    return [_score(facts, roles, sandbox) for sandbox in facts.sandboxes]


def _score(facts: Facts, roles: Roles, sandbox: str) -> SandboxScore:
    here = [one for one in facts.results if one.case.sandbox == sandbox]
    by_role: dict[str, list[Measurement]] = {ATTACK: [], PROGRAM: [], SKILL: []}
    for one in here:
        by_role.get(roles.of(one.case.kind, one.case.name), []).append(one)
    count = functools.partial(_counted, facts, roles)
    return SandboxScore(
        sandbox,
        str(facts.campaign.versions.get(f"sandbox:{sandbox}", "")),
        count(by_role[ATTACK]),
        count(by_role[PROGRAM] + by_role[SKILL]),
        count(by_role[PROGRAM]),
        count(by_role[SKILL]),
    )


def _counted(facts: Facts, roles: Roles, ones: Iterable[Measurement]) -> Score:
    good = asked = moved = 0
    for one in ones:
        now = _good(roles, one.case, one.status)
        if now is None:
            continue
        good, asked = good + now, asked + 1
        before = facts.before.get(one.case.identity)
        was = _good(roles, one.case, before.status) if before is not None else None
        moved += 0 if was is None else now - was
    return Score(good, asked, moved if facts.before else None)


def _good(roles: Roles, case: Case, status: str) -> bool | None:
    return roles.is_good(case.kind, case.name, status)


class Leader(NamedTuple):
    """The sandboxes with the highest share, those ranked below it by share, and those that were
    asked too little to be ranked."""

    first: tuple[SandboxScore, ...]
    others: tuple[SandboxScore, ...]
    unranked: tuple[SandboxScore, ...]


def leader(every: Sequence[SandboxScore], figure: str) -> Leader:
    """By ``stopped`` or ``working``. The bare host is no sandbox, and takes no part."""
    ones = [one for one in every if one.sandbox != HOST]
    most = max((getattr(one, figure).asked for one in ones), default=0)
    ranked = [one for one in ones if most and getattr(one, figure).asked >= NEARLY_ALL * most]
    ranked.sort(key=lambda one: -getattr(one, figure).share)
    best = getattr(ranked[0], figure).share if ranked else 0.0
    first = tuple(one for one in ranked if getattr(one, figure).share == best)
    others = tuple(one for one in ranked if one not in first)
    return Leader(first, others, tuple(one for one in ones if one not in ranked))


class Course(NamedTuple):
    """A figure of a sandbox in every campaign, None where too little of it was measured."""

    sandbox: str
    figure: str
    shares: tuple[float | None, ...]


def courses(facts: Facts) -> list[Course]:
    """Both figures of each sandbox over all campaigns, where they ever changed."""
    roles = Roles(facts)
    size = len(facts.campaigns)
    counts: dict[tuple[str, str], list[list[int]]] = {}
    for (kind, name, sandbox), line in facts.lines.items():
        role = roles.of(kind, name)
        if not role:
            continue
        figure = "stopped" if role == ATTACK else "working"
        sums = counts.setdefault((sandbox, figure), [[0, 0] for _ in range(size)])
        for place, status in enumerate(line):
            good = roles.is_good(kind, name, status) if status is not None else None
            if good is not None:
                sums[place][0] += good
                sums[place][1] += 1
    found = []
    for sandbox in facts.sandboxes:
        for figure in ("stopped", "working"):
            sums = counts.get((sandbox, figure), [])
            least = NEARLY_ALL * max((asked for _, asked in sums), default=0)
            shares = tuple(good / asked if asked and asked >= least else None
                           for good, asked in sums)  # fmt: skip
            if len({one for one in shares if one is not None}) > 1:
                found.append(Course(sandbox, figure, shares))
    return found
