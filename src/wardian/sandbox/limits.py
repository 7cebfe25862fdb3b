"""The limits of a run: as the kernel's own, as records for the launcher, and as the result reports
them, with what holds each. Pure."""

from __future__ import annotations

from wardian.sandbox.policy.policy import Limits
from wardian.sandbox.run.records import record
from wardian.sandbox.run.result import Limit

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Mapping

# Resource numbers that x86-64 and arm64 share; getrlimit(2).
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_CORE = 0, 1, 2, 4
RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE = 6, 7, 8, 11, 12
RLIMIT_NICE, RLIMIT_RTPRIO = 13, 14
# A reaper and the guest itself come before what the guest starts.
OWN_PROCESSES = 2
# Mapped is not used: thread stacks alone map 8 MB each. The supervisor holds the limit itself;
# this only keeps one process from running far past it between two looks.
MAPPED_SLACK = 512 << 20
# How long a private file may seem, of which its filesystem counts the blocks. Finite, for the
# kernel's index of a file grows with the distance between its pages, and nobody counts that.
SPARSE_BYTES = 1 << 40


def rlimits(limits: Limits, *, shares_written: bool = True) -> dict[int, int]:
    """What the kernel holds for each process of a guest, or of all of them, by resource number.

    A file in a share is never longer than the disk limit: though it may be sparse, it would fill
    the disk of whoever copies it.
    """
    held = {
        # Not 0: only 1 keeps a crash away from a piped core_pattern, core(5).
        RLIMIT_CORE: 1,
        RLIMIT_SIGPENDING: 4096,
        # Of the caller's own allowance, so that one guest leaves most of it to others: two message
        # queues of the usual size out of ten, and 4 MiB of locked memory out of 8,
        # which is enough for mlockall in a small program.
        RLIMIT_MSGQUEUE: 204800,
        RLIMIT_MEMLOCK: 4 << 20,
        RLIMIT_NICE: 0,
        RLIMIT_RTPRIO: 0,
    }
    if limits.cpu_s is not None:
        held[RLIMIT_CPU] = _ceil(limits.cpu_s) + 1
    if limits.memory_bytes is not None:
        held[RLIMIT_DATA] = 2 * limits.memory_bytes + MAPPED_SLACK
    if limits.processes is not None:
        held[RLIMIT_NPROC] = limits.processes + OWN_PROCESSES
    if limits.files is not None:
        held[RLIMIT_NOFILE] = limits.files
    if limits.disk_bytes is not None:
        least = 0 if shares_written else SPARSE_BYTES
        held[RLIMIT_FSIZE] = max(limits.disk_bytes, least)
    return held


def milliseconds(seconds: float) -> int:
    """As the launcher takes them: never 0, which is no limit."""
    return max(1, _ceil(seconds * 1000))


def limit_records(limits: Limits) -> list[bytes]:
    """The limits that the supervisor holds for all processes together."""
    held = {
        "wall-ms": None if limits.time_s is None else milliseconds(limits.time_s),
        "cpu-ms": None if limits.cpu_s is None else milliseconds(limits.cpu_s),
        "memory": limits.memory_bytes,
        "processes": limits.processes,
        "disk": limits.disk_bytes,
        "output": limits.output_bytes,
    }
    return [record(name, value) for name, value in held.items() if value is not None]


def rlimit_records(limits: Limits, *, shares_written: bool = True) -> list[bytes]:
    """The limits that the kernel holds for each process."""
    held = rlimits(limits, shares_written=shares_written)
    return [record("rlimit", kind, value) for kind, value in sorted(held.items())]


MECHANISMS = {
    "time": "supervisor",
    "cpu": "supervisor, RLIMIT_CPU",
    "memory": "supervisor, RLIMIT_DATA, tmpfs size",
    "processes": "RLIMIT_NPROC",
    "files": "RLIMIT_NOFILE",
    "disk": "tmpfs size, RLIMIT_FSIZE, supervisor",
    "output": "supervisor",
}


def held_limits(limits: Limits, otherwise: Mapping[str, str] = {}) -> tuple[Limit, ...]:
    """Each limit with what holds it; ``otherwise``: where that is not what the launcher has."""
    values = (
        limits.time_s,
        limits.cpu_s,
        limits.memory_bytes,
        limits.processes,
        limits.files,
        limits.disk_bytes,
        limits.output_bytes,
    )
    return tuple(
        Limit(name, value, otherwise.get(name, mechanism))
        for (name, mechanism), value in zip(MECHANISMS.items(), values, strict=True)
    )


def _ceil(number: float) -> int:
    return -int(-number // 1)  # math.ceil, without loading math
