"""The text of a policy file with more in it: comments and layout stay as they are. Pure.

Knows files as `wardian learn` writes them, and what a person is likely to make of them. Whoever
edits reads the outcome as a policy, and compares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from wardian.toml import quoted

_TABLE = re.compile(r"^[ \t]*\[[ \t]*([\w.-]+)[ \t]*\][ \t]*(?:#.*)?$", re.MULTILINE)
_PIECE = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(?P<comment>\#[^\n]*)|(?P<one>.)""", re.DOTALL
)


class _Span(NamedTuple):
    start: int
    end: int


def with_items(text: str, table: str, key: str, items: Sequence[tuple[str, str]]) -> str:
    """With more strings, each with a remark, at the end of a list."""
    if not items:
        return text
    at = _value(text, table, key)
    if at is None:
        return _with_key(text, table, key, f"[{', '.join(quoted(item) for item, _ in items)}]")
    close, comma = _end_of_list(text, at)
    if "\n" not in text[at:close]:
        more = ", ".join(quoted(item) for item, _ in items)
        joint = ", " if text[at + 1 : close].strip() and not comma else ""
        return f"{text[:close].rstrip()}{joint}{more}{text[close:]}"
    head = text[:close].rstrip(" \t")
    if not comma:
        last = _last_of_list(text, at, close)
        head = f"{text[:last]},{text[last:close]}".rstrip(" \t")
    if not head.endswith("\n"):
        head += "\n"
    width = min(60, max(len(quoted(item)) for item, _ in items) + 1)
    lines = [f"    {quoted(item) + ',':<{width}}  # {remark}\n" for item, remark in items]
    return head + "".join(lines) + text[close:]


def with_value(text: str, table: str, key: str, value: str, remark: str = "") -> str:
    """With another value, as TOML, of a key that stands on one line; with a remark, also that."""
    at = _value(text, table, key)
    if at is None:
        return _with_key(text, table, key, value + (f"  # {remark}" if remark else ""))
    end, comment = at, None
    for piece in _PIECE.finditer(text, at):
        if piece.group() == "\n" or piece.lastgroup == "comment":
            comment = piece if piece.lastgroup == "comment" else None
            break
        end = piece.end()
    kept = len(text[at:end].rstrip())
    if comment is None or not remark:
        remarked = f"  # {remark}" if remark else ""
        return f"{text[:at]}{value}{remarked}{text[at + kept :]}"
    return f"{text[:at]}{value}{text[at + kept : end] or '  '}# {remark}{text[comment.end() :]}"


def with_remark(text: str, lines: Sequence[str]) -> str:
    """With more comment at the end of the one that opens the file."""
    rows = text.split("\n")
    end = next((n for n, row in enumerate(rows) if not row.startswith("#")), len(rows))
    return "\n".join([*rows[:end], *(f"# {line}".rstrip() for line in lines), *rows[end:]])


def with_summary(text: str, head: str, lines: Sequence[str]) -> str:
    """With other lines in place of the indented ones below a line of comment that ends with
    ``head``, if there is one."""
    found = re.search(rf"^#.*{re.escape(head)}\n((?:#   .*\n)*)", text, re.MULTILINE)
    if found is None:
        return text
    new = "".join(f"#   {line}\n" for line in lines)
    return text[: found.start(1)] + new + text[found.end(1) :]


def _section(text: str, table: str) -> _Span | None:
    """What is below the heading of a table."""
    heads = list(_TABLE.finditer(text))
    for number, head in enumerate(heads):
        if head.group(1) == table:
            after = heads[number + 1].start() if number + 1 < len(heads) else len(text)
            return _Span(head.end(), after)
    return None


def _value(text: str, table: str, key: str) -> int | None:
    """Where the value of a key begins."""
    section = _section(text, table)
    if section is None:
        return None
    pattern = re.compile(rf"""^[ \t]*["']?{re.escape(key)}["']?[ \t]*=[ \t]*""", re.MULTILINE)
    found = pattern.search(text, section.start, section.end)
    return found.end() if found is not None else None


def _end_of_list(text: str, at: int) -> tuple[int, bool]:
    """Where its bracket closes, and whether a comma stands last in it."""
    comma = False
    for piece in _PIECE.finditer(text, at + 1):
        if piece.lastgroup == "string":
            comma = False
        elif piece.lastgroup == "one":
            if piece.group() == "]":
                return piece.start(), comma
            comma = comma or piece.group() == ","
    return len(text), comma


def _last_of_list(text: str, at: int, close: int) -> int:
    """The end of the last string in it."""
    strings = [one for one in _PIECE.finditer(text, at + 1, close) if one.lastgroup == "string"]
    return strings[-1].end() if strings else at + 1


def _with_key(text: str, table: str, key: str, value: str) -> str:
    section = _section(text, table)
    if section is None:
        return f"{text.rstrip()}\n\n[{table}]\n{key} = {value}\n"
    return f"{text[: section.start]}\n{key} = {value}{text[section.start :]}"
