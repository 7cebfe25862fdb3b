"""Which of the launcher's stream kinds serves each of the caller's own standard streams."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Sequence

from wardian.sandbox.run.launcher import CLEAR_OF_TARGETS, FD_FIRST_COPY, FD_FIRST_STREAM, pipe

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

NULL = ("null", 0)


class Streams(NamedTuple):
    """Kinds for the plan, and descriptors for the launcher (its number → ours, ours to close)."""

    kinds: list[tuple[str, int]]
    fds: dict[int, int]
    keep_session: bool = False


def captured(*, has_input: bool) -> tuple[Streams, dict[int, int]]:
    """Input from memory, output to memory; with our own ends by stream number."""
    kinds, fds, ends = [], {}, {}
    if has_input:
        fds[FD_FIRST_STREAM], ends[0] = pipe()
        kinds.append(("direct", FD_FIRST_STREAM))
    else:
        kinds.append(NULL)
    for i in (1, 2):
        ends[i], fds[FD_FIRST_STREAM + i] = pipe()
        kinds.append(("relay", FD_FIRST_STREAM + i))
    return Streams(kinds, fds), ends


def copied(streams: Streams, files: Sequence[int]) -> None:
    """Have these files get standard output and error as well."""
    for i, fd in enumerate(files):
        streams.fds[FD_FIRST_COPY + i] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS)


def direct() -> Streams:
    """The caller's 0, 1 and 2 themselves, for a command that is behind no wall."""
    kinds, fds = [], {}
    for i in range(3):
        try:
            fds[FD_FIRST_STREAM + i] = fcntl.fcntl(i, fcntl.F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS)
            kinds.append(("direct", FD_FIRST_STREAM + i))
        except OSError:
            kinds.append(NULL)  # closed
    return Streams(kinds, fds)


def inherited(*, tty: bool, seen: bool = False) -> Streams:
    """The caller's 0, 1 and 2: a pipe is handed through, anything else is relayed or a terminal.

    With ``seen``, output passes by the supervisor even on its way to /dev/null.
    """
    kinds, fds, keep = [], {}, False
    for i in range(3):
        kind = _kind(i, tty=tty, seen=seen and i > 0)
        if kind == "null":
            kinds.append(NULL)
            continue
        target = FD_FIRST_STREAM + i
        fds[target] = fcntl.fcntl(i, fcntl.F_DUPFD_CLOEXEC, CLEAR_OF_TARGETS)
        kinds.append((kind, target))
        keep = keep or os.isatty(i)
    return Streams(kinds, fds, keep)


def _kind(fd: int, *, tty: bool, seen: bool) -> str:
    try:
        info = os.fstat(fd)
    except OSError:
        return "null"  # closed
    if tty and os.isatty(fd):
        return "pty"
    if fd == 0 and stat.S_ISFIFO(info.st_mode):
        return "direct"
    null = os.stat("/dev/null")
    if not seen and stat.S_ISCHR(info.st_mode) and info.st_rdev == null.st_rdev:
        return "null"
    return "relay"


def wants_tty() -> bool:
    """``--tty auto``: a person sits at both ends."""
    return os.isatty(0) and os.isatty(1)
