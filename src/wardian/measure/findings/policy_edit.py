"""Lines of a policy added to a policy file's text, everything else left as it stands. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^\s*\[([A-Za-z0-9_.-]+)\]\s*(?:#.*)?$")


def with_lines(text: str, lines: str) -> str:
    """The file with these lines in force: lists are joined, values replaced, and a system call
    that is to be allowed is no longer denied. Raises ValueError if either is not TOML."""
    wanted = tomllib.loads(lines)
    for table, keys in wanted.items():
        for key, value in keys.items():
            if table == "syscalls" and key == "allow":
                text = _allowed(text, value)
            else:
                text = _merged(text, table, key, value)
    return text


def _allowed(text: str, names: list[str]) -> str:
    denied = tomllib.loads(text).get("syscalls", {}).get("deny", [])
    for name in names:
        if name in denied:
            denied = [one for one in denied if one != name]
            text = _set(text, "syscalls", "deny", denied)
        else:
            text = _merged(text, "syscalls", "allow", [name])
    return text


def _merged(text: str, table: str, key: str, value: Any) -> str:
    before = tomllib.loads(text).get(table, {}).get(key)
    if isinstance(value, list) and isinstance(before, list):
        value = list(dict.fromkeys((*before, *value)))
    return _set(text, table, key, value)


def _set(text: str, table: str, key: str, value: Any) -> str:
    """``key = value`` in the table: in place of what stands there, else at its beginning, else
    with a table of its own at the end. An empty list takes the line away."""
    lines = text.splitlines()
    line = f"{key} = {_toml(value)}"
    start = next(
        (i for i, one in enumerate(lines) if (m := _HEADER.match(one)) and m[1] == table), None
    )
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        return "\n".join([*lines, *gap, f"[{table}]", line, ""])
    end = next((i for i in range(start + 1, len(lines)) if _HEADER.match(lines[i])), len(lines))
    pattern = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*=""")
    at = next((i for i in range(start + 1, end) if pattern.match(lines[i])), None)
    new = [] if value == [] else [line]
    if at is None:
        lines[start + 1 : start + 1] = new
    else:
        lines[at : _end(lines, at, end)] = new
    return "\n".join([*lines, ""])


def _end(lines: list[str], at: int, end: int) -> int:
    """Behind the last line of the value that begins at a line."""
    for stop in range(at + 1, end + 1):
        try:
            tomllib.loads("\n".join(lines[at:stop]))
        except tomllib.TOMLDecodeError:
            continue
        return stop
    return end


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)
