"""How a status is shown: by a symbol and a word, and by colour only besides."""

from __future__ import annotations

from typing import NamedTuple

from wardian.measure.store.model import health


class Sign(NamedTuple):
    """``tone`` names a colour; ``order`` sorts the worst first."""

    symbol: str
    word: str
    meaning: str
    tone: str
    order: int


YES = Sign("✓", "yes", "allowed, as expected", "good", 6)
NO = Sign("⊘", "no", "blocked, as expected", "shut", 5)
PASS = Sign("✓", "pass", "passes", "good", 6)
NEVER = Sign("·", "never asked", "not asked in this campaign", "none", 8)
SIGNS = {
    "supported": YES,
    "blocked_expected": NO,
    "blocked_unexpected": Sign("✗", "NO!", "blocked, and should not be", "bad", 1),
    "allowed_unexpected": Sign("⚠", "YES!", "allowed, and should be blocked", "bad", 0),
    "unavailable": Sign("–", "n/a", "can't be asked here", "none", 7),
    "pass": PASS,
    "ok": PASS,
    "fail": Sign("✗", "fail", "fails", "bad", 1),
    "skip": Sign("–", "skip", "left out here", "none", 7),
    "partial": Sign("◐", "part", "some checks pass and others fail", "half", 3),
    "denied": Sign("⊘", "denied", "refused by policy", "shut", 5),
    "missing": Sign("○", "missing", "there is no such call here", "gone", 4),
}
# Tones in the order in which bars are drawn, with what they stand for.
TONES = {
    "good": "allowed or passed, as expected",
    "shut": "blocked, as expected",
    "half": "partly",
    "gone": "missing",
    "bad": "not as expected",
    "lost": "no answer came",
    "none": "can't be asked here",
}


def sign(status: str | None) -> Sign:
    """How this status is shown; None is a case that was not asked."""
    if status is None:
        return NEVER
    if status in SIGNS:
        return SIGNS[status]
    if health(status) == "absent":
        return SIGNS["unavailable"]._replace(word=status.replace("_", " "))
    return Sign("?", status.replace("_", " "), "no answer came", "lost", 2)


def plain(status: str) -> str:
    """The same in Markdown: bold where it is not as it should be."""
    found = sign(status)
    return {"bad": f"**{found.word.lower()}**", "none": found.symbol, "lost": status}.get(
        found.tone, found.word
    )
