"""Facts about each syscall beyond the policy decision: its users, its priority, its tests.

knowledge.tsv has a row for each row of table.tsv, in the same order. It stands apart because no run
needs it: it is read by those who want to know. ``wardian.measure.syscalls.refresh`` writes it from
traces, from the manual's sources and from gVisor's; only the column ``named`` is written by hand.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Literal, NamedTuple, cast

from wardian.errors import InputError
from wardian.syscalls.table import rows

Priority = Literal["critical", "high", "medium", "low"]
PRIORITIES: tuple[Priority, ...] = ("critical", "high", "medium", "low")
INTERPRETERS = ("sh", "bash", "python", "node", "perl", "ruby", "r")
TOOLS = "tools"
COLUMNS = ("name", "named", "used_by", "man", "tests")
NONE = "-"
MANY = 2  # interpreters that use a call of high priority
PATH = os.path.join(os.path.dirname(__file__), "knowledge.tsv")


class Knowledge(NamedTuple):
    """``named`` is the priority that LiteBox's analysis of gVisor's tests gave it, or None."""

    name: str
    named: Priority | None
    used_by: tuple[str, ...]
    man: str | None
    tests: tuple[str, ...]

    @property
    def by_use(self) -> Priority:
        """How much it matters, by who was seen to use it."""
        using = [name for name in INTERPRETERS if name in self.used_by]
        if len(using) == len(INTERPRETERS):
            return "critical"
        if len(using) >= MANY:
            return "high"
        return "medium" if self.used_by else "low"

    @property
    def priority(self) -> Priority:
        """The more urgent of what was measured and what was named."""
        return min(self.by_use, self.named or "low", key=PRIORITIES.index)

    @property
    def why(self) -> str:
        """The rule that gave the priority, in words."""
        if self.named is not None and self.priority == self.named != self.by_use:
            return f"named as {self.named} by the analysis"
        using = [name for name in INTERPRETERS if name in self.used_by]
        if len(using) == len(INTERPRETERS):
            return "every interpreter uses it"
        if using:
            return f"used by {len(using)} of {len(INTERPRETERS)} interpreters"
        return (
            "used by common tools" if self.used_by else "no interpreter or tool was seen using it"
        )


@cache
def known() -> dict[str, Knowledge]:
    """By name, in the order of the table."""
    with open(PATH, encoding="utf-8") as file:
        return parse(file.read())


def know(name: str) -> Knowledge:
    """What is known of a call that the table has."""
    return known()[name]


def parse(text: str, path: str = PATH) -> dict[str, Knowledge]:
    """Raises InputError with the line for what is not well formed, or not as the table is."""
    header, *lines = text.splitlines()
    if tuple(header.split("\t")) != COLUMNS:
        raise InputError(f"expected the columns {', '.join(COLUMNS)}", path=path, line=1)
    found: dict[str, Knowledge] = {}
    for line, (content, row) in enumerate(zip(lines, rows(), strict=False), start=2):
        fields = content.split("\t")
        if len(fields) != len(COLUMNS) or fields[0] != row.name:
            raise InputError(f"expected what is known of {row.name}", path=path, line=line)
        found[row.name] = _knowledge(fields, path, line)
    if len(lines) != len(rows()):
        raise InputError("it has another number of rows than the table", path=path)
    return found


def _knowledge(fields: list[str], path: str, line: int) -> Knowledge:
    name, named, used_by, man, tests = fields
    if named not in (*PRIORITIES, NONE):
        raise InputError(f"{named!r} is no priority", path=path, line=line)
    users = _words(used_by)
    strangers = set(users) - {*INTERPRETERS, TOOLS}
    if strangers:
        raise InputError(f"{min(strangers)!r} is no program", path=path, line=line)
    return Knowledge(
        name,
        None if named == NONE else cast(Priority, named),
        users,
        None if man == NONE else man,
        _words(tests),
    )


def _words(text: str) -> tuple[str, ...]:
    return () if text == NONE else tuple(text.split(" "))


def written(ones: dict[str, Knowledge]) -> str:
    """The text of the file that holds these."""
    lines = ["\t".join(COLUMNS)]
    for one in ones.values():
        used_by, tests = " ".join(one.used_by) or NONE, " ".join(one.tests) or NONE
        lines.append("\t".join((one.name, one.named or NONE, used_by, one.man or NONE, tests)))
    return "\n".join(lines) + "\n"
