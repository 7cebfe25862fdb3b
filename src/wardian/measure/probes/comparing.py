"""What flipped between two measurements, and what a capability comes to. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure.probes.artifact import Artifact
from wardian.text import printable

SCHEMA = "wardian.probe-diff/1"
Key = tuple[str, str]


class ProbeChange(NamedTuple):
    """``kind``: flipped (another observation or status), errno (blocked otherwise), appeared,
    vanished. What is absent is None."""

    kind: str
    id: str
    sandbox: str
    old: Artifact | None
    new: Artifact | None

    @property
    def counts(self) -> bool:
        """Does it make two measurements differ? A new probe does not, nor another errno."""
        return self.kind in ("flipped", "vanished")


def differences(old: Sequence[Artifact], new: Sequence[Artifact]) -> list[ProbeChange]:
    """By probe and sandbox; measurements of one sandbox each are compared whatever its name."""
    across = len({one.sandbox for one in old}) == len({one.sandbox for one in new}) == 1
    before, after = _by_key(old, across=across), _by_key(new, across=across)
    found = []
    for key in sorted({**before, **after}):
        one, other = before.get(key), after.get(key)
        kind = _kind(one, other)
        if kind is not None:
            found.append(ProbeChange(kind, key[0], _where(one, other), one, other))
    return found


def _by_key(artifacts: Iterable[Artifact], *, across: bool) -> Mapping[Key, Artifact]:
    return {(one.id, "" if across else one.sandbox): one for one in artifacts}


def _where(one: Artifact | None, other: Artifact | None) -> str:
    names = dict.fromkeys(side.sandbox for side in (one, other) if side is not None)
    return " → ".join(names)


def _kind(old: Artifact | None, new: Artifact | None) -> str | None:
    if old is None:
        return "appeared"
    if new is None:
        return "vanished"
    if old.sandbox == new.sandbox:
        if (old.observed, old.status) != (new.observed, new.status):
            return "flipped"
    elif old.observed != new.observed:  # what is expected of two sandboxes differs by right
        return "flipped"
    return "errno" if old.errno != new.errno else None


def document(found: Sequence[ProbeChange]) -> dict[str, Any]:
    """The JSON document of ``probe diff``."""
    return {
        "schema": SCHEMA,
        "flips": sum(one.counts for one in found),
        "differences": [
            {
                "kind": one.kind,
                "id": one.id,
                "sandbox": one.sandbox,
                "old": _side(one.old),
                "new": _side(one.new),
            }
            for one in found
        ],
    }


def _side(one: Artifact | None) -> dict[str, Any] | None:
    if one is None:
        return None
    keys = ("status", "observed", "errno", "detail", "cause", "sandbox", "sandbox_version")
    return {key: getattr(one, key) for key in (*keys, "kernel", "policy_digest", "time")}


def lines(found: Sequence[ProbeChange]) -> list[str]:
    """One line for each."""
    return [
        f"{one.kind:<9} {one.id} ({one.sandbox}): {_shown(one.old)} → {_shown(one.new)}"
        for one in found
    ]


def _shown(one: Artifact | None) -> str:
    if one is None:
        return "not measured"
    return f"{one.status} {one.errno}" if one.errno else one.status


class Holding(NamedTuple):
    """A capability in one sandbox: does it hold, and if not, why."""

    capability: str
    sandbox: str
    holds: bool
    why: str


def holding(capability: str, sandbox: str, artifacts: Iterable[Artifact]) -> Holding:
    """It holds if some specimen was allowed and none of those that could be asked was not."""
    ones = [one for one in artifacts if (one.capability, one.sandbox) == (capability, sandbox)]
    asked = [one for one in ones if one.status != "unavailable"]
    for one in asked:
        if one.observed != "allowed":
            seen = " ".join(filter(None, (one.observed or one.status, one.errno)))
            return Holding(capability, sandbox, False, f"{one.id}: {seen}: {printable(_why(one))}")
    if not asked:
        why = f"can't be tested: {ones[0].cause}" if ones else "was not measured"
        return Holding(capability, sandbox, False, why)
    return Holding(capability, sandbox, True, printable(asked[0].detail))


def _why(one: Artifact) -> str:
    return one.detail or one.cause
