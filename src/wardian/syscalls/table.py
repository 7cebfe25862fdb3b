"""The rows of table.tsv: every syscall of x86-64 and arm64, with what we decided about it and why.

The table is read at the first question, not at import, and never changes afterwards.
"""

from __future__ import annotations

import os

from wardian.errors import InputError, PolicyError, WallError

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Literal

    Kind = Literal["allow", "deny", "absent", "when"]

COLUMNS = ("name", "x86_64", "arm64", "group", "decision", "arguments", "effects", "reason")
_PATH = os.path.join(os.path.dirname(__file__), "table.tsv")
_ARCHES = {"x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}  # as `uname -m` has it, too


class Row(tuple[str, int | None, int | None, str, str, str, str, str]):
    """One syscall; a number is None where the architecture does not have the call."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self[0]

    @property
    def x86_64(self) -> int | None:
        return self[1]

    @property
    def arm64(self) -> int | None:
        return self[2]

    @property
    def group(self) -> str:
        return self[3]

    @property
    def decision(self) -> str:
        """In the language that ``conditions`` parses."""
        return self[4]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The role of each argument, in order, in the words of ``roles``."""
        return () if self[5] == "-" else tuple(self[5].split(" "))

    @property
    def effects(self) -> str:
        """What it does, in the language that ``effects`` parses."""
        return self[6]

    @property
    def reason(self) -> str:
        """One sentence: what an allowed call is for, or why a refused one is refused."""
        return self[7]

    @property
    def kind(self) -> Kind:
        """The first word of the decision: allow, deny, absent, or when (it depends)."""
        return self[4].split(" ", 1)[0]  # type: ignore[return-value]

    def number(self, arch: str) -> int | None:
        return self[1] if canonical_arch(arch) == "x86_64" else self[2]

    def __repr__(self) -> str:
        return f"Row({self[0]}: {self[4]})"


def rows() -> tuple[Row, ...]:
    """Every row, in the order of the table."""
    return tuple(_table().values())


def lookup(name: str) -> Row:
    """The row of a syscall. Raises PolicyError, with the nearest name, if there is none."""
    row = find(name)
    if row is None:
        raise PolicyError(f"there is no syscall {name!r}", hint=_nearest(name, _table()))
    return row


def find(name: str) -> Row | None:
    """The row of a syscall, None if there is none."""
    return _table().get(name)


def number(name: str, arch: str) -> int | None:
    """The syscall's number on an architecture, None if it has none. Raises as ``lookup`` does."""
    return lookup(name).number(arch)


def name_of(number: int, arch: str) -> str | None:
    """The name of a number on an architecture, None if the table does not know it."""
    arch = canonical_arch(arch)
    if arch not in _names:
        _names[arch] = {n: row.name for row in rows() if (n := row.number(arch)) is not None}
    return _names[arch].get(number)


def groups() -> dict[str, tuple[Row, ...]]:
    """The rows of each group, groups in the order in which the table first names them."""
    by_group: dict[str, list[Row]] = {}
    for row in rows():
        by_group.setdefault(row.group, []).append(row)
    return {group: tuple(members) for group, members in by_group.items()}


def canonical_arch(arch: str) -> str:
    """Our name for an architecture. Raises WallError if the table has no numbers for it."""
    try:
        return _ARCHES[arch]
    except KeyError:
        raise WallError(
            "seccomp",
            f"there is no syscall table for {arch!r}",
            hint=f"known architectures: {', '.join(_ARCHES)}",
        ) from None


def parse_table(text: str, path: str = _PATH) -> dict[str, Row]:
    """Rows by name. Raises InputError with the line for a row that is not well formed."""
    header, *lines = text.splitlines()
    if tuple(header.split("\t")) != COLUMNS:
        raise InputError(f"expected the columns {', '.join(COLUMNS)}", path=path, line=1)
    table = {}
    for line, content in enumerate(lines, start=2):
        try:
            name, x86_64, arm64, group, decision, arguments, effects, reason = content.split("\t")
            numbers = (_number(x86_64), _number(arm64))
        except ValueError as error:
            raise InputError(f"not a row of the table: {error}", path=path, line=line) from None
        if name in table:
            raise InputError(f"{name} has a row already", path=path, line=line)
        table[name] = Row((name, *numbers, group, decision, arguments, effects, reason))
    return table


_loaded: dict[str, Row] = {}
_names: dict[str, dict[int, str]] = {}


def _table() -> dict[str, Row]:
    if not _loaded:
        with open(_PATH, encoding="utf-8") as file:
            _loaded.update(parse_table(file.read()))
    return _loaded


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _nearest(name: str, known: Collection[str]) -> str | None:
    from difflib import get_close_matches  # 10 ms, and only a misspelt name needs it

    matches = get_close_matches(name, known, n=1)
    return f"did you mean {matches[0]}?" if matches else None
