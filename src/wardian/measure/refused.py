"""Refusals as evidence of a case's outcome: the likely cause, and their documents.

A refusal stays the object that the run gave, with what would allow it, until it is written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.refusals.notes import UNKNOWN
from wardian.sandbox.refusals.ranking import is_routine
from wardian.sandbox.run.result import Allow, Caller, Refusal

MAX_REFUSALS = 20
_TEXTS = ("kind", "action", "target", "reason")


def worth_keeping(refusals: Iterable[Refusal], *, routine: bool = False) -> tuple[Refusal, ...]:
    """The likely cause last; what libraries look for anyway only if it is asked for, and first.
    Who asked and how often is left out: the same thing is kept once."""
    ordered = sorted(refusals, key=lambda one: not is_routine(one))
    plain = (
        one._replace(process=UNKNOWN, count=1, time_s=0.0, weight="notable") for one in ordered
    )
    found = dict.fromkeys(one for one in plain if routine or not is_routine(one))
    return tuple(found)[-MAX_REFUSALS:]


def likely(refusals: Iterable[Refusal]) -> Refusal | None:
    """The one that most likely is the cause: not a look at a file, if there is another."""
    data = list(refusals)
    weighty = [one for one in data if one.action != "stat"]
    return (weighty or data)[-1] if data else None


def text(refusal: Refusal) -> str:
    """``syscall ptrace ptrace(0x0, …)``: what was refused, in one line."""
    return f"{refusal.kind} {refusal.action} {refusal.target}".strip()


def short(refusal: Refusal) -> str:
    """The same without the action where the target names it."""
    named = refusal.target.startswith(refusal.action)
    return f"{refusal.kind} {refusal.target}" if named else text(refusal)


def general(refusal: Refusal) -> str:
    """Without what differs from one try to the next: arguments of a call, names made up anew."""
    if refusal.kind in ("syscall", "process") and not refusal.target.startswith("pid "):
        call, _, _ = refusal.target.partition("(")
        return f"{refusal.kind} {call or refusal.action}"
    if refusal.kind == "limit":
        return text(refusal)
    target = re.sub(r"[0-9]+|(?<=[_./-])[A-Za-z0-9]{6}$", "…", refusal.target)
    return f"{refusal.kind} {refusal.action} {target}"


def document(refusal: Refusal) -> dict[str, Any]:
    """What of a refusal is the same each time; ``allow`` only where something would allow it."""
    data: dict[str, Any] = {name: getattr(refusal, name) for name in _TEXTS}
    return data | ({"allow": refusal.allow.document()} if refusal.allow is not None else {})


def read(data: Mapping[str, Any]) -> Refusal:
    """Raises TypeError, KeyError."""
    allow = data.get("allow")
    return Refusal(
        data["kind"],
        data["action"],
        data["target"],
        UNKNOWN,
        data["reason"],
        allow=Allow(**allow) if allow is not None else None,
    )


def read_text(line: str) -> Refusal:
    """What ``text`` wrote: without the reason and what would allow it, for they are not in it."""
    kind, action, target = (*line.split(" ", 2), "", "")[:3]
    return Refusal(kind, action, target, UNKNOWN, "")


def granted(policy: Policy, refusals: Iterable[Refusal]) -> Policy:
    """The policy, with what would allow these. Raises PolicyError."""
    from wardian.sandbox.policy.file import parse_policy

    for allow in dict.fromkeys(one.allow for one in refusals if one.allow is not None):
        policy = parse_policy(allow.policy, allow.flag, policy)
    return policy


def stored(refusal: Refusal) -> dict[str, Any]:
    """As the store keeps it: not when, how often, or by which pid; but who asked."""
    return {
        "kind": refusal.kind, "action": refusal.action, "target": refusal.target,
        "reason": refusal.reason, "process": refusal.process.command,
        "allow": refusal.allow.document() if refusal.allow is not None else None,
    }  # fmt: skip


def restored(data: Mapping[str, Any] | str) -> Refusal:
    """What ``stored`` gave; of a probe of an earlier version, its text."""
    if isinstance(data, str):
        return read_text(data)
    kind, action, target, reason, process = (
        str(data.get(name) or "") for name in ("kind", "action", "target", "reason", "process")
    )
    allow = data.get("allow")
    remedy = Allow(allow["flag"], allow["policy"]) if allow else None
    return Refusal(kind, action, target, Caller(0, process), reason, allow=remedy)


__all__ = [
    "MAX_REFUSALS", "document", "general", "granted", "likely", "read", "read_text", "restored",
    "short", "stored", "text", "worth_keeping",
]  # fmt: skip
