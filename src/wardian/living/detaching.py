"""Becoming a process of its own: forked off the command that was typed, which waits until it is
ready; then in a session of its own, with no terminal and no descriptor of the caller's."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 125


class Readiness:
    """The end of the pipe to the process that was typed, which ends when this one is ready."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def ready(self, log: int) -> None:
        """Let go of terminal, caller and directory: from now on ``log`` gets what goes wrong.
        Raises OSError if the caller is gone, as by Ctrl-C."""
        os.setsid()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        sys.stdout.flush()
        sys.stderr.flush()
        for target, fd in ((0, null), (1, null), (2, log)):
            os.dup2(fd, target)
        os.close(null)
        self.report(0)

    def report(self, code: int) -> None:
        """Say once how it went. Raises OSError if nobody waits any more."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.write(fd, bytes([code]))
            os.close(fd)


def detached(work: Callable[[Readiness], int]) -> int:
    """Run ``work`` in another process; returns once that says it is ready (0), or the exit code
    that it ended with. To be called before there are threads."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = FAILED
        try:
            os.close(reader)
            _close_all_but(writer)
            readiness = Readiness(writer)
            code = work(readiness)
            sys.stdout.flush()
            sys.stderr.flush()
            readiness.report(code)
        finally:
            os._exit(code)
    os.close(writer)
    try:
        said = os.read(reader, 1)
    finally:
        os.close(reader)
    if said:
        return said[0]
    os.waitpid(pid, 0)
    return FAILED  # it was killed


def _close_all_but(kept: int) -> None:
    """What the caller left open is not for a process that outlives it."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd != kept:
            try:
                os.close(fd)
            except OSError:
                pass  # the listing's own
