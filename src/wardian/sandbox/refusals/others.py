"""What else a guest could not have: calls, processes, and more than its limits."""

from __future__ import annotations

import os

from wardian.sandbox.policy.units import human_bytes
from wardian.sandbox.refusals.notes import act_word, args_of, refusal_of, shown, text_of
from wardian.sandbox.refusals.remedies import (
    RefusalContext,
    spelled,
    to_call,
    to_use,
)
from wardian.sandbox.run.result import Limit, Refusal
from wardian.syscalls.effects import does

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any


def by_filter(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal:
    from wardian.syscalls import lookup
    from wardian.syscalls.decode import call_text

    if name.startswith("syscall "):
        return refusal_of("syscall", name, name, "unknown call", None)
    args, row = args_of(event), lookup(name)
    strings = {}
    if event["text"] and "path" in row.arguments:
        strings = {row.arguments.index("path"): shown(text_of(event["text"]))}
    target = call_text(name, args, strings=strings, arch=around.arch)
    kind = "process" if does(name, "trace") else "syscall"
    denied = name in around.policy.deny_syscalls
    reason = "this run's policy denies it" if denied else row.reason
    return refusal_of(kind, name, target, reason, to_call(name, args, around.policy))


# Processes and limits


def by_pid(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    pid = args_of(event)[0] & 0xFFFFFFFF
    if not os.path.isdir(f"/proc/{pid}"):
        return None
    reason = "the host's processes are not reachable"
    return refusal_of("process", act_word(name), f"pid {pid}", reason, None)


def by_limit(name: str, event: dict[str, Any], around: RefusalContext) -> Refusal | None:
    limits = around.policy.limits
    if event["text"] == "processes":
        held = Limit("processes", limits.processes, "")
        return limit_refusal(held, "the run reached its limit of processes and threads")
    if event["text"] == "files":
        held = Limit("files", limits.files, "")
        return limit_refusal(held, "a process reached its limit of open files")
    if event["text"] == "memory":
        needed = int(event["other"])
        reason = f"a process asked to map {human_bytes(needed)} of memory"
        return limit_refusal(Limit("memory", limits.memory_bytes, ""), reason, needed)
    memory = limits.memory_bytes is not None and limits.memory_bytes < (
        limits.disk_bytes or 1 << 62
    )
    held = (
        Limit("memory", limits.memory_bytes, "") if memory else Limit("disk", limits.disk_bytes, "")
    )
    return limit_refusal(held, "the private filesystem reached its limit")


def limit_refusal(limit: Limit, reason: str, needed: int = 0) -> Refusal:
    """A limit that was met, and what would allow more: twice as much, or what is needed."""
    value = spelled(limit.name, limit.value or 0)
    return refusal_of("limit", limit.name, value, reason, to_use(limit, needed))
