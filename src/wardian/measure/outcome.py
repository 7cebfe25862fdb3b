"""The outcome of a case: the statuses of every kind of case, and how each is shown. Pure.

A probe is judged against an expectation, a case of a suite or of a skill passes or fails, and a
system call is supported or not. Documents and the store spell a status as here; ``health`` is
defined for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from wardian.measure.refused import restored
from wardian.sandbox.run.result import Refusal

HEALTH = ("good", "bad", "broken", "absent")
# Tones in the order in which bars are drawn, with what they stand for.
TONES = {
    "good": "allowed or passed, as expected",
    "shut": "blocked, as expected",
    "half": "partly",
    "gone": "missing",
    "bad": "not as expected",
    "lost": "no outcome",
    "none": "can't be tested here",
}
_HEALTH_OF_TONE = {
    "good": "good", "shut": "good", "half": "bad", "gone": "bad", "bad": "bad", "lost": "broken",
    "none": "absent",
}  # fmt: skip


class Status(NamedTuple):
    """``tone`` names a colour, never all that is shown; ``order`` sorts the worst first."""

    name: str
    symbol: str
    word: str
    meaning: str
    tone: str
    order: int

    @property
    def health(self) -> str:
        """good: as it should be; bad: not so; absent: can't be tested here; broken: no outcome."""
        return _HEALTH_OF_TONE[self.tone]


def _broken(name: str) -> Status:
    return Status(name, "?", name.replace("_", " "), "no outcome", "lost", 2)


_PASS = Status("pass", "✓", "pass", "passes", "good", 6)
_FAIL = Status("fail", "✗", "fail", "fails", "bad", 1)
_SKIP = Status("skip", "–", "skip", "left out here", "none", 7)
_ABSENT = Status("unavailable", "–", "n/a", "can't be tested here", "none", 7)
NEVER = Status("", "·", "not measured", "not measured in this campaign", "none", 8)
_NAMED = (
    # a probe, against what is expected of it
    Status("supported", "✓", "yes", "allowed, as expected", "good", 6),
    Status("blocked_expected", "⊘", "no", "blocked, as expected", "shut", 5),
    Status("blocked_unexpected", "✗", "NO!", "blocked, and should not be", "bad", 1),
    Status("allowed_unexpected", "⚠", "YES!", "allowed, and should be blocked", "bad", 0),
    _ABSENT,
    # a case of a skill, a check inside a specimen
    _PASS,
    _PASS._replace(name="ok"),
    _FAIL,
    _SKIP,
    _ABSENT._replace(name="not_wanted", word="not wanted"),
    # a case of a suite
    _PASS._replace(name="passed"),
    _FAIL._replace(name="failed"),
    _SKIP._replace(name="skipped"),
    _SKIP._replace(name="disabled", word="disabled"),
    # a system call
    Status("partial", "◐", "partly", "some checks pass and others fail", "half", 3),
    Status("denied", "⊘", "denied", "refused by policy", "shut", 5),
    Status("missing", "○", "missing", "there is no such call here", "gone", 4),
    # no outcome
    *map(_broken, ("timeout", "crashed", "error", "garbage", "silent", "not_run")),
)
STATUSES = {one.name: one for one in _NAMED}

# Which of them a probe, a case of a suite, a system call can have; in the order of their counts.
GOOD = ("supported", "blocked_expected")
UNEXPECTED = ("blocked_unexpected", "allowed_unexpected")
NO_ANSWER = ("timeout", "crashed", "error", "garbage", "silent", "not_run")
PROBE = (*GOOD, *UNEXPECTED, "unavailable", *NO_ANSWER)
SUITE = ("passed", "failed", "skipped", "crashed", "timeout", "not_run", "disabled")
CALL = ("supported", "partial", "denied", "missing")
# How the store spells those of a suite.
STORED = {"passed": "pass", "failed": "fail", "skipped": "skip", "disabled": "skip"}


def status(name: str | None) -> Status:
    """The status of that name; None is a case that was not asked."""
    if name is None:
        return NEVER
    return STATUSES.get(name) or _broken(name)


def health(name: str) -> str:
    """Of a status, by its name."""
    return status(name).health


def cell(name: str) -> str:
    """A status at a glance, in a table of plain text: yes, NO!, TIMEOUT, -."""
    found = status(name)
    if found.health == "absent":
        return "-"
    return found.word.upper() if found.health == "broken" else found.word


class Outcome(NamedTuple):
    """What came of a case. ``observed`` is allowed or blocked, where that was asked; ``evidence``
    is bounded: refusals, an excerpt of the output, checks, the calls made."""

    status: str
    cause: str = ""
    detail: str = ""
    errno: str | None = None
    observed: str | None = None
    evidence: Mapping[str, Any] = {}

    @property
    def health(self) -> str:
        """As that of its status."""
        return health(self.status)

    @property
    def refusals(self) -> list[Refusal]:
        """Those in the evidence."""
        return [restored(one) for one in self.evidence.get("refusals", [])]


__all__ = [
    "CALL", "GOOD", "HEALTH", "NEVER", "NO_ANSWER", "PROBE", "STATUSES", "STORED", "SUITE",
    "TONES", "UNEXPECTED", "Outcome", "Status", "cell", "health", "status",
]  # fmt: skip
