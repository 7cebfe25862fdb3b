"""What a call does with the files that it names. Pure; the flags are this host's."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from wardian.observe.events import Path, TracedCall
from wardian.syscalls.effects import kind_of, place_of

ACTIONS = (
    "read", "written", "created", "deleted", "listed", "executed", "looked at", "missing",
    "refused",
)  # fmt: skip
O_PATH = 0o10000000
O_TMPFILE = 0o20000000 | os.O_DIRECTORY
RENAME_EXCHANGE = 2
_ABSENT = (errno.ENOENT, errno.ENOTDIR)
_REFUSED = (errno.EROFS, errno.EPERM, errno.EACCES)
_CREATING = os.O_CREAT | os.O_WRONLY | os.O_TRUNC  # what an open without flags does, creat(2)
# What is done to the one path of calls of a kind; the other kinds look at it.
_DONE = {
    "make": "created", "bind": "created", "remove": "deleted", "change": "written",
    "exec": "executed",
}  # fmt: skip


def actions(call: TracedCall) -> Iterator[tuple[Path, str]]:
    """Each path that the call names, with what is done to it; a path may come several times."""
    paths = [call.paths[place] for place in sorted(call.paths)]
    if not paths:
        return
    if call.error:
        for path in paths:
            yield path, _failed(call, path)
        return
    first, last = paths[0], paths[-1]
    kind = kind_of(call.name)
    if kind == "open":
        for action in _opened(call, first):
            yield first, action
    elif kind == "move":
        yield from _moved(call, first, last)
    elif kind == "link":
        yield first, "looked at"
        yield last, "created"
    else:
        yield first, _DONE.get(kind, "looked at")


def _failed(call: TracedCall, path: Path) -> str:
    if call.error in _REFUSED:
        return "refused"
    return "missing" if path.lay == "nothing" or call.error in _ABSENT else "looked at"


def _opened(call: TracedCall, path: Path) -> Iterator[str]:
    at = place_of(call.name, "oflags")
    flags = call.args[at] if at >= 0 else _CREATING
    access = flags & os.O_ACCMODE
    if flags & O_PATH:
        yield "looked at"
    elif flags & O_TMPFILE == O_TMPFILE:
        yield "written"  # the directory; the file has no name
    elif path.lay == "nothing":
        yield "created"
    elif path.lay == "directory" or flags & os.O_DIRECTORY:
        yield "listed"
    else:
        if access != os.O_WRONLY:
            yield "read"
        if access != os.O_RDONLY or flags & os.O_TRUNC:
            yield "written"


def _moved(call: TracedCall, old: Path, new: Path) -> Iterator[tuple[Path, str]]:
    at = place_of(call.name, "renameflags")
    if at >= 0 and call.args[at] & RENAME_EXCHANGE:
        yield old, "written"
        yield new, "written"
        return
    yield old, "deleted"
    yield new, "created" if new.lay == "nothing" else "written"


__all__ = ["ACTIONS", "actions"]
