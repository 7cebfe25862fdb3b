"""The supervisor's notes, turned into refusals: only where the host has what the guest asked
for, or where its write failed, each with what would allow it.

Looks at the host, with the caller's own rights, after the run has ended; nothing of it reaches the
guest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wardian.sandbox.refusals.files import by_absence, by_mask, by_read_only
from wardian.sandbox.refusals.network import by_name, by_network
from wardian.sandbox.refusals.notes import UNKNOWN, shown, text_of
from wardian.sandbox.refusals.others import by_filter, by_limit, by_pid
from wardian.sandbox.refusals.remedies import RefusalContext
from wardian.sandbox.run.result import Caller, Refusal
from wardian.syscalls import name_of
from wardian.text import quoted

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import Any

MAX_PARENTS = 16  # the nearest: a guest can make a chain of hundreds
LAUNCHER_NAME = "wardian-launch"

# What the supervisor says refused it → who explains that.
EXPLAIN: dict[str, Callable[[str, dict[str, Any], RefusalContext], Refusal | None]] = {
    "f": by_filter, "m": by_absence, "c": by_absence, "r": by_read_only, "k": by_mask,
    "n": by_network, "d": by_name, "p": by_pid, "l": by_limit,
}  # fmt: skip


def refusals(events: Sequence[dict[str, Any]], around: RefusalContext) -> tuple[Refusal, ...]:
    """In the order in which they happened, the same thing folded into one."""
    callers = callers_of(events, around.command)
    found = _Found()
    for event in events:
        if event["event"] != "refused":
            continue
        name = name_of(event["call"], around.arch) or f"syscall {event['call']}"
        refusal = EXPLAIN[event["by"]](name, event, around)
        if refusal is not None:
            caller = callers.get(event["process"], UNKNOWN)
            found.add(
                refusal._replace(process=caller, count=event["count"], time_s=event["at_us"] / 1e6)
            )
    return found.all()


class _Found:
    """The same thing again counts; a look at something that is then used is part of using it."""

    def __init__(self) -> None:
        self._by_act: dict[tuple[str, str, str], Refusal] = {}
        self._first_act: dict[tuple[str, str], str] = {}

    def add(self, refusal: Refusal) -> None:
        thing = (refusal.kind, refusal.target)
        first = self._first_act.setdefault(thing, refusal.action)
        action = first if refusal.action == "stat" else refusal.action
        if first == "stat" and action != "stat":
            looked = self._by_act.pop((refusal.kind, "stat", refusal.target))
            self._first_act[thing] = action
            refusal = refusal._replace(time_s=looked.time_s)
        before = self._by_act.get((refusal.kind, action, refusal.target))
        if before is not None:
            refusal = before._replace(count=before.count + refusal.count)
        self._by_act[refusal.kind, action, refusal.target] = refusal

    def all(self) -> tuple[Refusal, ...]:
        return tuple(self._by_act.values())


def callers_of(events: Sequence[dict[str, Any]], command: tuple[str, ...]) -> dict[int, Caller]:
    """By number. Until the run's own command is found and runs, it is the launcher that looks."""
    callers: dict[int, Caller] = {}
    for event in events:
        if event["event"] == "process":
            parent = callers.get(event["parent"])
            above = (parent._replace(parents=()), *parent.parents)[:MAX_PARENTS] if parent else ()
            words: Sequence[str] = text_of(event["command"]).rstrip("\0").split("\0")
            words = command if words == [LAUNCHER_NAME] else words
            line = " ".join(quoted(shown(word)) for word in words)
            callers[event["number"]] = Caller(event["pid"], line, above)
    return callers
