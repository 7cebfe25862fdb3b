"""What a call does with the files that it names. Pure; the flags are this host's."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from wardian.observe.events import Path, TracedCall

ACTIONS = (
    "read", "written", "created", "deleted", "listed", "executed", "looked at", "missing",
    "refused",
)  # fmt: skip
O_PATH = 0o10000000
O_TMPFILE = 0o20000000 | os.O_DIRECTORY
RENAME_EXCHANGE = 2
_ABSENT = (errno.ENOENT, errno.ENOTDIR)
_REFUSED = (errno.EROFS, errno.EPERM, errno.EACCES)
_OPENING = {"open": 1, "openat": 2}  # where their flags stand
_MAKING = frozenset(("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat"))
_REMOVING = frozenset(("unlink", "unlinkat", "rmdir"))
_MOVING = {"rename": -1, "renameat": -1, "renameat2": 4}
_LINKING = frozenset(("link", "linkat"))
_CHANGING = frozenset((
    "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "truncate", "utime", "utimes",
    "utimensat", "futimesat", "setxattr", "lsetxattr", "removexattr", "lremovexattr",
))  # fmt: skip
_EXECUTING = frozenset(("execve", "execveat"))


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
    if call.name in _OPENING:
        for action in _opened(call.args[_OPENING[call.name]], first):
            yield first, action
    elif call.name == "creat":
        yield first, "written" if first.lay != "nothing" else "created"
    elif call.name in _MAKING or call.name == "bind":  # a socket with a path
        yield last, "created"
    elif call.name in _REMOVING:
        yield first, "deleted"
    elif call.name in _MOVING:
        yield from _moved(call, first, last)
    elif call.name in _LINKING:
        yield first, "looked at"
        yield last, "created"
    elif call.name in _CHANGING:
        yield first, "written"
    else:
        yield first, "executed" if call.name in _EXECUTING else "looked at"


def _failed(call: TracedCall, path: Path) -> str:
    if call.error in _REFUSED:
        return "refused"
    return "missing" if path.lay == "nothing" or call.error in _ABSENT else "looked at"


def _opened(flags: int, path: Path) -> Iterator[str]:
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
    at = _MOVING[call.name]
    if at >= 0 and call.args[at] & RENAME_EXCHANGE:
        yield old, "written"
        yield new, "written"
        return
    yield old, "deleted"
    yield new, "created" if new.lay == "nothing" else "written"


__all__ = ["ACTIONS", "actions"]
