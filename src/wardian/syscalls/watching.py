"""Which calls the supervisor looks at although they are allowed, and what it needs to know of them.

Only what can be refused needs to be seen. The scopes, each with all of the one before it:

nothing     only what the filter refuses
changes     calls that create, change, remove, execute or send: rare enough to look at each
opens       also every open
paths       also every call that takes a path: what programs make by the thousand
everything  every call

A call that is looked at can be interrupted where it never is otherwise: a signal that comes before
the supervisor has received it, with a handler that does not restart calls, makes it fail with
EINTR. So calls that no program expects that of, forks above all, are only looked at in a trace.

Which calls these are, and what each does, the table's ``effects`` say. A call is left alone under
the condition after ``unless`` there; an open if its flags, in a register, say that it only reads.
"""

from __future__ import annotations

import struct

from wardian.syscalls.effects import NOT_FOLLOWED, act_of, kind_of, place_of
from wardian.syscalls.table import Row, canonical_arch, rows

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    Scope = Literal["nothing", "changes", "opens", "paths", "everything"]

SCOPES = ("nothing", "changes", "opens", "paths", "everything")
# In the order of enum watch_kind in core/call.h, from 1.
KINDS = (
    "look", "open", "change", "remove", "make", "move", "link", "exec", "connect", "bind",
    "send", "messages", "signal", "fork", "map", "exit", "other",
)  # fmt: skip
RECORD = struct.Struct("<HB6bB")  # number, kind, places, bits: set_watched in core/plan.c
_LEAST = {"look": "paths", "fork": "everything", "exit": "everything", "other": "everything"}
_FLAGS = ("oflags", "atflags", "accessflags", "unlinkflags", "renameflags")
_NOFOLLOW, _LINK, _DIRECTORY = 1, 2, 4


def unless(scope: Scope) -> Mapping[str, str]:
    """For each watched call the condition under which it is not; empty: always watched."""
    if scope == "everything":
        return {row.name: "" for row in rows()}
    return {row.name: _quiet(row, scope) for row in _watched(scope)}


def watched_calls(scope: Scope, arch: str) -> bytes:
    """What the launcher needs to know of them: the record ``watched`` of its plan."""
    watched = frozenset(row.name for row in _watched(scope))
    packed = []
    for row in rows():
        number = row.number(canonical_arch(arch))
        # A refused call is not watched, but a path that it names is reported.
        refused = row.decision == "deny" and "path" in row.arguments
        if number is None or not (refused or row.name in watched):
            continue
        kind = kind_of(row.name)
        kind = "look" if refused and kind == "other" else kind
        places, bits = _places(row), _bits(row, kind)
        packed.append(RECORD.pack(number, KINDS.index(kind) + 1, *places, bits))
    return b"".join(packed)


def _watched(scope: Scope) -> Iterator[Row]:
    within = SCOPES.index(scope)
    for row in rows():
        if row.effects == "-" and scope != "everything":
            continue  # most of them, and each would cost a start microseconds
        traced = act_of(row.name).mark == "traced"
        least = "everything" if traced else _LEAST.get(kind_of(row.name), "changes")
        if within >= SCOPES.index(least):
            yield row


def _quiet(row: Row, scope: Scope) -> str:
    """The condition under which it is left alone."""
    flags = place_of(row.name, "oflags")
    if flags < 0 or kind_of(row.name) != "open":
        return act_of(row.name).unless
    if scope == "changes":
        return f"arg{flags} & O_CHANGES == 0"
    # One that only finds a file is a look. The launcher makes those under this scope's filter; no
    # register, which a guest could set as well, marks a call as the launcher's.
    return f"arg{flags} & O_PATH == O_PATH" if scope == "opens" else ""


def _places(row: Row) -> tuple[int, ...]:
    """Where its two paths, the directories they start from, its flags, and the access that it asks
    for stand; -1: nowhere."""
    roles = row.arguments
    paths = [i for i, role in enumerate(roles) if role == "path"]
    dirs = [i - 1 if i > 0 and roles[i - 1] == "dirfd" else -1 for i in paths]
    paths, dirs = [*paths, -1, -1], [*dirs, -1, -1]
    flags, access = place_of(row.name, *_FLAGS), place_of(row.name, "access")
    return dirs[0], paths[0], dirs[1], paths[1], flags, access


def _bits(row: Row, kind: str) -> int:
    mark = act_of(row.name).mark
    bits = _NOFOLLOW if kind in NOT_FOLLOWED or mark in ("nofollow", "link") else 0
    return bits | {"link": _LINK, "directory": _DIRECTORY}.get(mark, 0)
