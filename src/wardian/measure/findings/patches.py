"""Changes of files as patches that `git apply` and `patch -p1` take. Pure."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """A file as it is and as it should be; None where it is not there."""

    path: str
    before: str | None
    after: str | None


def patch(edits: Iterable[Edit]) -> str:
    """One patch for all of them, in their order; empty where nothing differs."""
    return "".join(_one(edit) for edit in edits if edit.before != edit.after)


def _one(edit: Edit) -> str:
    old = "/dev/null" if edit.before is None else f"a/{edit.path}"
    new = "/dev/null" if edit.after is None else f"b/{edit.path}"
    head = f"diff --git a/{edit.path} b/{edit.path}\n"
    if edit.before is None:
        head += "new file mode 100644\n"
    elif edit.after is None:
        head += "deleted file mode 100644\n"
    lines = difflib.unified_diff(_lines(edit.before), _lines(edit.after), old, new)
    return head + "".join(_ended(line) for line in lines)


def _lines(text: str | None) -> list[str]:
    return list(io.StringIO(text or ""))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def touched(text: str) -> set[str]:
    """The files that a patch changes."""
    heads = (line.split(" b/", 1) for line in text.splitlines() if line.startswith("diff --git "))
    return {parts[1] for parts in heads if len(parts) == 2}


def patch_conflicts(one: str, other: str) -> bool:
    """Do they change the same file?"""
    return bool(touched(one) & touched(other))
