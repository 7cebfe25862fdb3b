"""Changes between two results or two campaigns that could explain a flip. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from wardian.measure.case import Case
from wardian.measure.store.model import Campaign, Measurement, Moment

_DIGITS = 12  # of a digest, in text for people
# What a campaign's fields are called when they change.
_FIELDS = ("kernel", "machine", "host", "user_id", "wardian", "wardian_digest", "policy_digest")
_WORDS = {"wardian_digest": "wardian's files", "policy_digest": "policy", "user_id": "user"}


class Change(NamedTuple):
    """``what`` is kernel, policy, wardian, sandbox, specimen, skill …; empty: it was not there."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} {_short(self.before)} → {_short(self.after)}"


def between(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """The dependencies in which two results differ."""
    return [
        Change(name, before.get(name, ""), after.get(name, ""))
        for name in sorted({**before, **after})
        if before.get(name, "") != after.get(name, "")
    ]


def explained(
    before: Moment | Measurement,
    after: Moment | Measurement,
    case: Case,
    campaigns: Mapping[int, Campaign],
    dependencies: Mapping[str, Mapping[str, str]],
) -> tuple[tuple[Change, ...], bool]:
    """The changes between two results of a case, and whether the flip is unexplained: all
    dependencies are known, and none changed."""
    one, other = dependencies.get(before.key), dependencies.get(after.key)
    if one is not None and other is not None:
        found = between(one, other)
        return tuple(found), not found
    old, new = campaigns[before.campaign_id], campaigns[after.campaign_id]
    return tuple(of_campaigns(old, new, case)), False


def of_campaigns(before: Campaign, after: Campaign, case: Case | None = None) -> list[Change]:
    """The changes between two campaigns; with a case, only those that could matter to it."""
    found = []
    for field in _FIELDS:
        one, other = str(getattr(before, field)), str(getattr(after, field))
        if one != other:
            found.append(Change(_WORDS.get(field, field), one, other))
    words = {change.what for change in found}
    if "wardian" in words:  # both name the same change, and the version says more
        found = [change for change in found if change.what != "wardian's files"]
    versions = between(before.versions, after.versions)
    return found + [one for one in versions if case is None or _matters(one.what, case)]


def _matters(what: str, case: Case) -> bool:
    kind, _, name = what.partition(":")
    if kind == "sandbox":
        return name == case.sandbox
    if kind == "skill":
        return case.kind in ("skill", "trace") and name == case.group
    if kind == "interpreter":
        return name == str(case.about.get("language", name))
    return True


def _short(text: str) -> str:
    if not text:
        return "(none)"
    digest = text.removeprefix("sha256:")
    plain = len(digest) >= 32 and all(c in "0123456789abcdef" for c in digest)
    return digest[:_DIGITS] if plain else text
