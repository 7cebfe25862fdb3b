"""Refusals as evidence of what came of a case: as text, and documents that are read back.

A refusal stays the object that the run gave, with what would allow it, until it is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardian.sandbox.refusals.reading import UNKNOWN
from wardian.sandbox.run.result import Allow, Refusal

_TEXTS = ("kind", "action", "target", "reason")


def text(refusal: Refusal) -> str:
    """``syscall ptrace ptrace(0x0, …)``: what was refused, in one line."""
    return f"{refusal.kind} {refusal.action} {refusal.target}".strip()


def short(refusal: Refusal) -> str:
    """The same without the action where the target names it."""
    named = refusal.target.startswith(refusal.action)
    return f"{refusal.kind} {refusal.target}" if named else text(refusal)


def document(refusal: Refusal) -> dict[str, Any]:
    """What of a refusal is the same each time; ``allow`` only where something would allow it."""
    told: dict[str, Any] = {name: getattr(refusal, name) for name in _TEXTS}
    return told | ({"allow": refusal.allow._asdict()} if refusal.allow is not None else {})


def read(told: Mapping[str, Any]) -> Refusal:
    """Raises TypeError, KeyError."""
    allow = told.get("allow")
    return Refusal(
        told["kind"],
        told["action"],
        told["target"],
        UNKNOWN,
        told["reason"],
        allow=Allow(**allow) if allow is not None else None,
    )


def read_text(line: str) -> Refusal:
    """What ``text`` wrote: without the reason and what would allow it, for they are not in it."""
    kind, action, target = (*line.split(" ", 2), "", "")[:3]
    return Refusal(kind, action, target, UNKNOWN, "")
