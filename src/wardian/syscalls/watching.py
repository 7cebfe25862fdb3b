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

``unless`` is a condition (see ``conditions``) under which the call is not looked at after all: an
``openat`` whose flags, in a register, say that it only reads.
"""

from __future__ import annotations

import os
import struct

from wardian.syscalls.table import Row, canonical_arch, lookup, rows

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    Scope = Literal["nothing", "changes", "opens", "paths", "everything"]

SCOPES = ("nothing", "changes", "opens", "paths", "everything")
# In the order of enum watch_kind in core/call.h, from 1.
KINDS = (
    "look", "open", "change", "remove", "make", "move", "link", "exec",
    "address", "send", "messages", "signal", "fork", "map", "exit", "other",
)  # fmt: skip
_PATH = os.path.join(os.path.dirname(__file__), "watching.tsv")
_FLAGS = ("oflags", "atflags", "accessflags")
_NOT_FOLLOWED = frozenset((
    "lstat", "readlink", "readlinkat", "unlink", "unlinkat", "rmdir", "rename", "renameat",
    "renameat2", "lchown", "lsetxattr", "lremovexattr", "lgetxattr", "llistxattr", "mkdir",
    "mkdirat", "mknod", "mknodat", "symlink", "symlinkat",
))  # fmt: skip


def unless(scope: Scope) -> Mapping[str, str]:
    """For each watched call the condition under which it is not; empty: always watched."""
    if scope == "everything":
        return {row.name: "" for row in rows()}
    return {name: quiet for name, _, quiet in _watched(scope)}


def watched_calls(scope: Scope, arch: str) -> bytes:
    """What the launcher needs to know of them: the record ``watched`` of its plan."""
    # What is refused is not watched, but a path that it names is told.
    kinds = {
        row.name: "look" for row in rows() if row.decision == "deny" and "path" in row.arguments
    }
    kinds |= {name: kind for name, kind, _ in _watched(scope)}
    if scope == "everything":
        kinds |= {"exit": "exit", "exit_group": "exit"}
    packed = []
    for row in rows():
        number = row.number(canonical_arch(arch))
        if number is None or not (row.name in kinds or scope == "everything"):
            continue
        kind = KINDS.index(kinds.get(row.name, "other")) + 1
        places = _places(row)
        packed.append(struct.pack("<HB5bB", number, kind, *places, row.name in _NOT_FOLLOWED))
    return b"".join(packed)


def _places(row: Row) -> tuple[int, int, int, int, int]:
    """Where its two paths, the directories they start from, and its flags stand; -1: nowhere."""
    roles = row.arguments
    paths = [i for i, role in enumerate(roles) if role == "path"]
    dirs = [i - 1 if i > 0 and roles[i - 1] == "dirfd" else -1 for i in paths]
    flags = next((i for i, role in enumerate(roles) if role in _FLAGS), -1)
    paths, dirs = [*paths, -1, -1], [*dirs, -1, -1]
    return dirs[0], paths[0], dirs[1], paths[1], flags


def _watched(scope: Scope) -> list[tuple[str, str, str]]:
    """Name, kind, and the condition under which it is left alone."""
    if scope == "nothing":
        return []
    found = []
    with open(_PATH, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    for line in lines:
        name, kind, least, quiet = line.split("\t")
        if SCOPES.index(scope) < SCOPES.index(least):
            continue
        quiet = "" if quiet == "-" else quiet
        if scope != "changes" and kind == "open" and name != "creat":
            # One that only finds a file is a look. The launcher makes those under this scope's
            # filter; no register, which a guest could set as well, marks a call as the launcher's.
            quiet = f"arg{_places(lookup(name))[4]} & O_PATH == O_PATH" if scope == "opens" else ""
        found.append((name, kind, quiet))
    return found
