"""The table's meaning said a second time, call by call and by regular expression.

It shares no code with the compiler but the table itself, so that a fault in either shows.
"""

from __future__ import annotations

import csv
import errno
import re
from pathlib import Path

import wardian.syscalls
from wardian.syscalls.constants import CONSTANTS

TABLE = Path(wardian.syscalls.__file__).with_name("table.tsv")
AUDIT_ARCH = {"x86_64": 0xC000003E, "arm64": 0xC00000B7}
ALLOW, NOTIFY, ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000

_CLAUSE = re.compile(
    r"(?P<half>arg|high)(?P<arg>[0-5])(?: & (?P<mask>\S+))? "
    r"(?P<op>==|!=|in|not in) (?P<values>\{.*\}|\S+)"
)


def read_table() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = read_table()
BY_NUMBER = {arch: {int(row[arch]): row for row in ROWS if row[arch] != "-"} for arch in AUDIT_ARCH}


def expected(
    arch: str,
    number: int,
    args: tuple[int, ...],
    refuse: str,
    *,
    allow: frozenset[str] = frozenset(),
    deny: frozenset[str] = frozenset(),
) -> int:
    """The value that a filter for ``arch`` must return for a native call."""
    if arch == "x86_64" and 0x40000000 <= number < 0x80000000:
        return ERRNO | errno.EPERM
    row = BY_NUMBER[arch].get(number)
    if row is None:
        return ERRNO | errno.ENOSYS
    if row["name"] in allow:
        return ALLOW
    decision = "deny" if row["name"] in deny else row["decision"]
    match decision:
        case "allow":
            return ALLOW
        case "absent":
            return ERRNO | errno.ENOSYS
        case "deny":
            return NOTIFY if refuse == "notify" else ERRNO | errno.EPERM
    return _guarded(decision, args, refuse)


def _guarded(decision: str, args: tuple[int, ...], refuse: str) -> int:
    guards = decision.split("; ")
    for position, guard in enumerate(guards, start=1):
        condition, _, name = guard.removeprefix("when ").partition(" else ")
        condition, _, answer = condition.partition(" answer ")
        if not condition_holds(condition, args):
            if answer:
                return ERRNO | (0 if answer == "0" else int(getattr(errno, answer)))
            if refuse == "notify" and (position == len(guards) or name == "EPERM"):
                return NOTIFY
            return ERRNO | int(getattr(errno, name or "EPERM"))
    return ALLOW


def condition_holds(condition: str, args: tuple[int, ...]) -> bool:
    """Whether a call with these registers meets a condition of the table."""
    return any(
        all(_holds(clause, args) for clause in alternative.split(" and "))
        for alternative in condition.split(" or ")
    )


def _holds(clause: str, args: tuple[int, ...]) -> bool:
    parts = _CLAUSE.fullmatch(clause)
    assert parts, clause
    mask = _value(parts["mask"]) if parts["mask"] else 0xFFFFFFFF
    word = args[int(parts["arg"])] >> (32 if parts["half"] == "high" else 0)
    seen = word % 2**32 & mask
    among = seen in {_value(text) for text in parts["values"].strip("{}").split(",")}
    return among if parts["op"] in ("==", "in") else not among


def _value(text: str) -> int:
    total = 0
    for name in text.split("|"):
        total |= CONSTANTS[name] if name in CONSTANTS else int(name, 0)
    return total
