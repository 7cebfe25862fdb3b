"""The table compiled for one architecture into the classic BPF program that seccomp(2) takes.

The order of the program: is this our architecture, then a balanced binary search over ranges of
numbers that share an outcome, then the blocks that look at arguments, then the outcomes. A search
rather than a chain, because the kernel runs a new filter once per syscall number to learn which
calls are always allowed: 300 comparisons in a row cost 1 ms at installation, a tree a quarter.
"""

from __future__ import annotations

import errno
import struct

from wardian.errors import PolicyError
from wardian.syscalls.conditions import (
    WORD,
    Clause,
    Condition,
    Guard,
    parse_condition,
    parse_guards,
)
from wardian.syscalls.table import Row, canonical_arch, lookup, rows

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Literal

    Refuse = Literal["notify", "errno"]
    from wardian.syscalls.watching import Scope

# linux/seccomp.h
RET_ALLOW = 0x7FFF0000
RET_USER_NOTIF = 0x7FC00000
RET_ERRNO = 0x00050000
RET_ABSENT = RET_ERRNO | errno.ENOSYS
RET_FOREIGN = RET_ERRNO | errno.EPERM

# linux/audit.h
AUDIT_ARCH = {"x86_64": 0xC000003E, "arm64": 0xC00000B7}

# x86-64 has a second ABI with 32-bit pointers, x32, whose numbers carry bit 30.
X32_FIRST, X32_END = 0x40000000, 0x80000000

# Offsets in struct seccomp_data; both architectures are little-endian, so an argument's low word
# comes first.
_NUMBER, _ARCH, _ARGS = 0, 4, 16

_LOAD, _AND, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06

Outcome = int | tuple[Guard, ...]
"""What becomes of a number: a value to return, or guards to try."""

WATCHED = -1
"""Stands for an errno in the guard of a call that goes on after the supervisor has looked at it."""

_cache: dict[tuple[object, ...], bytes] = {}


def compile_filter(
    arch: str,
    *,
    allow: Collection[str] = (),
    deny: Collection[str] = (),
    refuse: Refuse = "notify",
    watch: Scope = "nothing",
    otherwise: Mapping[str, str] | None = None,
    acted: Collection[str] = (),
) -> bytes:
    """The filter as an array of ``struct sock_filter``; ``allow`` and ``deny`` overrule rows.

    A refused call is sent to the supervisor (``notify``) or answered by the kernel (``errno``);
    calls that ``watch`` names are sent to it as well (see ``watching``), and what is ``acted``.
    ``otherwise`` has decisions in place of the table's (see ``confined``). Raises PolicyError for a
    name that is unknown or both allowed and denied, WallError for an architecture without a table.
    """
    arch, allow, deny = canonical_arch(arch), frozenset(allow), frozenset(deny)
    changed = tuple(sorted((otherwise or {}).items()))
    key = (arch, allow, deny, refuse, watch, changed, frozenset(acted))
    if key not in _cache:
        decisions = _decisions(arch, allow, deny, dict(changed))
        always = {n: () for name in acted if (n := lookup(name).number(arch)) is not None}
        ranges = number_ranges(arch, decisions, refuse, _unless(arch, watch) | always)
        _cache[key] = assemble(arch, ranges, refuse)
    return _cache[key]


def _unless(arch: str, scope: Scope) -> dict[int, Condition]:
    """By number, for calls that are watched: the condition under which they are not."""
    if scope == "nothing":
        return {}
    from wardian.syscalls.watching import unless

    return {
        number: parse_condition(quiet) if quiet else ()
        for name, quiet in unless(scope).items()
        if (number := lookup(name).number(arch)) is not None
    }


def _decisions(
    arch: str, allow: frozenset[str], deny: frozenset[str], otherwise: Mapping[str, str]
) -> dict[int, str]:
    for name in sorted(allow | deny):
        lookup(name)
        if name in allow and name in deny:
            raise PolicyError(f"syscall {name!r} is both allowed and denied")

    def decision(row: Row) -> str:
        if row.name in allow:
            return "allow"
        return "deny" if row.name in deny else otherwise.get(row.name, row.decision)

    return {n: decision(row) for row in rows() if (n := row.number(arch)) is not None}


def number_ranges(
    arch: str,
    decisions: dict[int, str],
    refuse: Refuse,
    watched: Mapping[int, Condition] | None = None,
) -> list[tuple[int, Outcome]]:
    """Where each run of numbers with one outcome begins, from 0 to the end of the number space."""
    refused = RET_USER_NOTIF if refuse == "notify" else RET_ERRNO | errno.EPERM
    returns = {"allow": RET_ALLOW, "deny": refused, "absent": RET_ABSENT}
    starts: dict[int, Outcome] = {0: RET_ABSENT}
    for number in sorted(decisions):
        decision = decisions[number]
        outcome = returns.get(decision) or parse_guards(decision)
        if watched and number in watched and outcome != refused:
            outcome = _looked_at(outcome, watched[number])
        starts[number] = outcome
        if number + 1 not in decisions:
            starts[number + 1] = RET_ABSENT
    if arch == "x86_64":
        starts[X32_FIRST], starts[X32_END] = RET_FOREIGN, RET_ABSENT
    ranges: list[tuple[int, Outcome]] = []
    for start, outcome in starts.items():
        if not ranges or ranges[-1][1] != outcome:
            ranges.append((start, outcome))
    return ranges


def _looked_at(outcome: Outcome, unless: Condition) -> Outcome:
    if isinstance(outcome, int):
        return ((unless, WATCHED, False),) if unless and outcome == RET_ALLOW else RET_USER_NOTIF
    return (*outcome, (unless, WATCHED, False))


def assemble(arch: str, ranges: list[tuple[int, Outcome]], refuse: Refuse) -> bytes:
    """The program for ranges as ``number_ranges`` gives them: sorted, the first from 0."""
    program = _Program()
    foreign = program.returns(RET_FOREIGN)
    blocks: dict[Outcome, int] = {}
    for _, outcome in ranges:
        if not isinstance(outcome, int) and outcome not in blocks:
            blocks[outcome] = _guards(program, outcome, refuse)
    _search(program, ranges, blocks)
    ours = program.add(_LOAD, _NUMBER)
    program.branch(_IF_EQUAL, AUDIT_ARCH[arch], ours, foreign)
    program.add(_LOAD, _ARCH)
    return program.to_bytes()


def _search(
    program: _Program, ranges: list[tuple[int, Outcome]], blocks: dict[Outcome, int]
) -> int:
    if len(ranges) == 1:
        outcome = ranges[0][1]
        return program.returns(outcome) if isinstance(outcome, int) else blocks[outcome]
    middle = len(ranges) // 2
    upper = _search(program, ranges[middle:], blocks)
    lower = _search(program, ranges[:middle], blocks)
    return program.branch(_IF_AT_LEAST, ranges[middle][0], upper, lower)


def _guards(program: _Program, guards: tuple[Guard, ...], refuse: Refuse) -> int:
    """What is answered as a kernel would that never had the thing is not reported, unless it is the
    last word: libraries try such things, and go on."""
    passed = program.returns(RET_ALLOW)
    last = max((i for i, (_, number, _) in enumerate(guards) if number != WATCHED), default=-1)
    for index, (condition, number, answers) in reversed(list(enumerate(guards))):
        refused = not answers and (number == errno.EPERM or index == last)
        notified = number == WATCHED or (refuse == "notify" and refused)
        failed = program.returns(RET_USER_NOTIF if notified else RET_ERRNO | number)
        passed = _condition(program, condition, passed, failed)
    return passed


def _condition(program: _Program, condition: Condition, passed: int, failed: int) -> int:
    for conjunction in reversed(condition):
        entry = passed
        for clause in reversed(conjunction):
            entry = _clause(program, clause, entry, failed)
        failed = entry
    return failed


def _clause(program: _Program, clause: Clause, passed: int, failed: int) -> int:
    word, mask, negated, values = clause
    found, entry = (failed, passed) if negated else (passed, failed)
    for value in reversed(values):
        entry = program.branch(_IF_EQUAL, value, found, entry)
    if mask != WORD:
        program.add(_AND, mask)
    return program.add(_LOAD, _ARGS + 8 * (word % 6) + 4 * (word // 6))


class _Program:
    """Instructions written from the last to the first: BPF only jumps forward, so every target
    exists by the time something jumps to it. A place is counted from the end, from 0.
    """

    _NEAR = 250  # a conditional jump spans 255 instructions; some slack for stepping stones

    def __init__(self) -> None:
        self._backwards: list[tuple[int, int, int, int]] = []
        self._returns: dict[int, int] = {}

    def add(self, code: int, k: int, if_true: int = 0, if_false: int = 0) -> int:
        self._backwards.append((code, if_true, if_false, k))
        return len(self._backwards) - 1

    def returns(self, value: int) -> int:
        """A place that returns the value, near enough for a conditional jump."""
        if value not in self._returns or self._skipped(self._returns[value]) > self._NEAR:
            self._returns[value] = self.add(_RETURN, value)
        return self._returns[value]

    def branch(self, code: int, k: int, if_true: int, if_false: int) -> int:
        if_true, if_false = self._reach(if_true), self._reach(if_false)
        return self.add(code, k, self._skipped(if_true), self._skipped(if_false))

    def to_bytes(self) -> bytes:
        flat = [field for instruction in reversed(self._backwards) for field in instruction]
        return struct.pack("<" + "HBBI" * len(self._backwards), *flat)

    def _reach(self, place: int) -> int:
        """The place itself, or a stepping stone to it if it is too far for a conditional jump."""
        skipped = self._skipped(place)
        return place if skipped <= self._NEAR else self.add(_JUMP, skipped)

    def _skipped(self, place: int) -> int:
        return len(self._backwards) - 1 - place
