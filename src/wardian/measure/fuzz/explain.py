"""Explain differences by the filter's decisions and by rules with a reason.

A difference without an explanation is new. So is a call that the table refuses and the sandbox
allows, whatever the host does.
"""

from __future__ import annotations

import errno
from typing import NamedTuple

from wardian.measure.fuzz.compare import Divergence, apply, result_text
from wardian.measure.fuzz.program import (
    ARENA_AT,
    AT,
    RESULT,
    SELF,
    WORD,
    WORD64,
    CallSequence,
    roles_of,
)
from wardian.measure.fuzz.rules import Explained, Rules
from wardian.measure.fuzz.wire import Behaviour
from wardian.sandbox.policy.policy import Policy
from wardian.syscalls.conditions import Guard, holds, parse_guards
from wardian.syscalls.table import rows

FILTERED = ("wardian", "bubblewrap")  # the sandboxes that put up the table's filter
BYPASS = "not refused"


class Explanation(NamedTuple):
    """The wall, and why it stands there."""

    wall: str
    reason: str


class Explainer:
    """What one sandbox under one policy is expected to do otherwise than the host."""

    def __init__(self, sandbox: str, policy: Policy, rules: Rules, arch: str) -> None:
        self.sandbox, self.rules, self.arch = sandbox, rules, arch
        self._reasons = {row.name: row.reason for row in rows()}
        self._answers: dict[str, int] = {}
        self._guards: dict[str, tuple[Guard, ...]] = {}
        if sandbox not in FILTERED or "seccomp" in policy.degrade:
            return
        for row in rows():
            decision = row.decision
            if row.name in policy.allow_syscalls:
                decision = "allow"
            elif row.name in policy.deny_syscalls:
                decision = "deny"
            if decision == "deny":
                self._answers[row.name] = -errno.EPERM
            elif decision == "absent":
                self._answers[row.name] = -errno.ENOSYS
            elif decision != "allow":
                self._guards[row.name] = parse_guards(decision)

    def refusal(self, program: CallSequence, outcome: Behaviour, index: int) -> int | None:
        """What the filter answers to this call, None if it lets it through."""
        name = program.calls[index].name
        if name in self._answers:
            return self._answers[name]
        guards = self._guards.get(name)
        if guards is None:
            return None
        registers = resolved(program, outcome, index)
        for condition, number, _ in guards:
            if not holds(condition, registers):
                return -number
        return None

    def bypass(self, program: CallSequence, outcome: Behaviour) -> Divergence | None:
        """The first call that the filter should have refused and that was answered otherwise."""
        for index, (call, answer) in enumerate(zip(program.calls, outcome.answers, strict=False)):
            if call.name not in self._answers and call.name not in self._guards:
                continue
            expected = self.refusal(program, outcome, index)
            if expected is not None and answer.result != expected:
                return Divergence(
                    index, call.name, "", BYPASS, result_text(expected), result_text(answer.result)
                )
        return None

    def explain(
        self, program: CallSequence, sandbox: Behaviour, found: Divergence
    ) -> Explanation | None:
        """Why this difference is intended; None if it is new."""
        if 0 <= found.call < len(sandbox.answers):
            expected = self.refusal(program, sandbox, found.call)
            if expected is not None and sandbox.answers[found.call].result == expected:
                return Explanation("seccomp", f"{found.name}: {self._reasons[found.name]}")
        for rule in self.rules.explained:
            if self._applies(rule, program, found):
                return Explanation(rule.wall, rule.reason)
        return None

    def _applies(self, rule: Explained, program: CallSequence, found: Divergence) -> bool:
        names = set(found.name.split("+")) if found.call < 0 else {found.name}
        return (
            rule.aspect == found.aspect
            and (bool(names & rule.calls) or not rule.calls)
            and (found.sandbox in rule.sandbox or "*" in rule.sandbox)
            and (not rule.host or found.host in rule.host)
            and (not rule.places or self.sandbox in rule.places)
            and (not rule.commands or found.command in rule.commands)
            and (not rule.paths or self._has_path(rule.paths, program, found.call))
        )

    def _has_path(self, starts: tuple[str, ...], program: CallSequence, index: int) -> bool:
        memory = program.arena()
        for call in program.calls[: index + 1] if index >= 0 else program.calls:
            for role, arg in zip(roles_of(call, self.arch), call.args, strict=False):
                if role == "path" and arg.kind == AT:
                    path = bytes(memory[arg.value : arg.value + 512]).split(b"\0", 1)[0]
                    if _lies_below(path.decode("utf-8", "replace"), starts):
                        return True
        return False


def _lies_below(path: str, places: tuple[str, ...]) -> bool:
    """Is it one of these, or below one? The root stands for itself alone."""
    return any(path == place or (place != "/" and path.startswith(place + "/")) for place in places)


def resolved(program: CallSequence, outcome: Behaviour, index: int) -> list[int]:
    """The registers that a call was made with."""
    call = program.calls[index]
    memory = None
    values = []
    for arg in call.args:
        value = arg.value
        if arg.kind == RESULT:
            value = outcome.answers[value].result if value < index else -1
        elif arg.kind == SELF:
            value = outcome.pid
        elif arg.kind == AT:
            value += ARENA_AT
        elif arg.kind == WORD:
            if memory is None:
                memory = program.arena()
                for answer in outcome.answers[:index]:
                    apply(memory, answer)
            value = int.from_bytes(memory[value : value + 4], "little", signed=True)
        values.append(value & WORD64)
    return values + [0] * (6 - len(values))
