"""A limit on processes that a short run met: the kernel refuses a fork without counting it, and the
supervisor counts processes only now and then. Pure."""

from __future__ import annotations

from wardian.sandbox.refusals.others import limit_refusal
from wardian.sandbox.run.result import Limit, Refusal

# EAGAIN of fork(2) and pthread_create(3), as shells and runtimes print it.
FAILED_FORKS = (
    b"Cannot fork",  # dash, busybox
    b"Resource temporarily unavailable",  # bash, Python, perl, git
    b"can't start new thread",  # Python
    b"unable to create native thread",  # Java
    b"Could not create thread",  # Node.js
    b"EAGAIN",  # Node.js, Go
)


def met_processes(most: int | None, made: int, left: int, stderr: bytes) -> tuple[Refusal, ...]:
    """The limit on processes as a refusal, if a run that failed met it: it made more than ``most``
    in all, and left that many running or reports a failed fork in ``stderr``. A guest can write
    anything there, and can meet the limit as it likes: this explains, and decides nothing."""
    if not most or made <= most:
        return ()
    if left < most and not any(words in stderr for words in FAILED_FORKS):
        return ()
    reason = "it may have no more processes and threads"
    return (limit_refusal(Limit("processes", most, ""), reason),)
