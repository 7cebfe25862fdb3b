"""A refusal in the store: written and read here alone, with its remedy. Pure.

Kept is what is the same each time: not when, how often, or by which pid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardian.measure.refused import read_text
from wardian.sandbox.run.result import Allow, Caller, Refusal


def stored(refusal: Refusal) -> dict[str, Any]:
    """As JSON."""
    return {
        "kind": refusal.kind, "action": refusal.action, "target": refusal.target,
        "reason": refusal.reason, "process": refusal.process.command,
        "allow": refusal.allow._asdict() if refusal.allow is not None else None,
    }  # fmt: skip


def restored(told: Mapping[str, Any] | str) -> Refusal:
    """What ``stored`` gave; of a probe of an earlier version, its text."""
    if isinstance(told, str):
        return read_text(told)
    kind, action, target, reason, process = (
        str(told.get(name) or "") for name in ("kind", "action", "target", "reason", "process")
    )
    allow = told.get("allow")
    remedy = Allow(allow["flag"], allow["policy"]) if allow else None
    return Refusal(kind, action, target, Caller(0, process), reason, allow=remedy)
