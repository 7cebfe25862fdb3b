"""A place made ahead of the next run, for a sandbox that gives each run namespaces of its own.

Its walls go up while the caller does something else, so the next run costs little more than a fork
and an exec. It is used once, as any other place of such a sandbox. It is not used at all where a
place made now would differ from it: see ``_Surroundings``.
"""

from __future__ import annotations

import os
import resource
import select
import threading
import time
from collections.abc import Callable, Sequence

from wardian.errors import SandboxError
from wardian.sandbox.run.records import record

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple

    from wardian.sandbox.backends import Job
    from wardian.sandbox.backends.interior import Placed
    from wardian.sandbox.backends.living import LivingPlace
    from wardian.sandbox.root.shares import Source
    from wardian.sandbox.run.plan import Plan
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result
else:
    from wardian.values import NamedTuple

FRESH_S = 5.0  # one that waited longer is not used
UNUSED_S = 30  # its supervisor ends it by itself then; later, so that none ends while it is taken
STANDS_S = 5.0
MOST_ENDING = 2  # places that nobody waits for
_LAST_PID = "sys/kernel/ns_last_pid"

_LIMITS = range(16)  # RLIM_NLIMITS, getrlimit(2)

_Identity = tuple[int, int]


def records_of(plan: Plan) -> bytes:
    """What its launcher is asked for besides: an end, if nobody comes; and the same first process
    number that a run has without it, where the kernel lets us choose, proc_sys_kernel(5)."""
    records = record("unused-ms", UNUSED_S * 1000)
    has_proc = any(wall.name == "proc" and wall.enforced for wall in plan.protections)
    if has_proc and os.path.exists(f"/proc/{_LAST_PID}"):
        records += record("sysctl", "1", _LAST_PID)
    return records


class _Waiting(NamedTuple):
    """A place that nobody has used, and what it was made from."""

    place: LivingPlace
    more: tuple[Source, ...]
    made_from: tuple[object, ...]
    until_s: float


class Spares:
    """At most one place waits. Safe to use from many threads; a process that was forked off has
    none."""

    def __init__(
        self, make: Callable[[tuple[Source, ...]], LivingPlace], paths: Sequence[str]
    ) -> None:
        """``make`` makes a place; ``paths`` are those of the host that one mounts."""
        self._make, self._paths = make, paths
        self._lock = threading.Lock()
        self._waiting: _Waiting | None = None
        self._ending: list[LivingPlace] = []  # asked to end, and not waited for yet
        self._under_way = 0
        self._closed = False
        self._owner = os.getpid()
        self._mounts = _Mounts()

    def start(self, job: Job, placed: Placed, launch: Callable[[], Process]) -> Process:
        """Start a run: in the place that waits, or with ``launch``. Raises SandboxError."""
        if self._owner != os.getpid():
            return launch()
        with self._lock:
            self._under_way += 1
        place = None
        try:
            place = self._taken(placed.more)
            process = launch() if place is None else place.start(job, placed.argv, placed.env)
        except BaseException:
            self._over(place, placed.more, None)
            raise
        process.at_end = lambda result: self._over(place, placed.more, result)
        if place is not None:  # else a launcher keeps the processors busy
            self._prepare(placed.more, others=1)
        return process

    def _taken(self, more: tuple[Source, ...]) -> LivingPlace | None:
        """The place that waits, unless one that is made now would be another."""
        with self._lock:
            waiting, self._waiting = self._waiting, None
        if waiting is None:
            return None
        try:
            if (
                waiting.more == more
                and time.monotonic() < waiting.until_s
                and waiting.made_from == self._surroundings(more)
                and waiting.place.place.stands(STANDS_S)
                and not waiting.place.place.gone
            ):
                return waiting.place
        except OSError:
            pass  # no descriptor is left
        self._end(waiting.place)
        return None

    def _surroundings(self, more: tuple[Source, ...]) -> tuple[object, ...]:
        """What a place has from the caller and the host at the moment when it is made. Raises
        OSError."""
        paths = [*self._paths, *(source.path for source in more)]
        return (self._mounts.changes(), *_of_caller(), *map(_identity, paths))

    def _over(
        self, place: LivingPlace | None, more: tuple[Source, ...], result: Result | None
    ) -> None:
        """A run has ended. What it left running has, too, when its caller hears of it."""
        if place is not None and result is not None and _was_alone(result):
            self._end(place)
        elif place is not None:
            place.close()
        with self._lock:
            self._under_way -= 1
            self._ending = [one for one in self._ending if not _has_ended(one)]
            late, self._ending = self._ending[:-MOST_ENDING], self._ending[-MOST_ENDING:]
        for one in late:
            one.close()
        if result is not None and result.reason != "killed":  # else who runs it may be about to end
            self._prepare(more, others=0)

    def _prepare(self, more: tuple[Source, ...], *, others: int) -> None:
        """Make the next one, unless more than ``others`` runs go on: they need the processors."""
        with self._lock:
            late = self._waiting is not None and time.monotonic() >= self._waiting.until_s
            if self._closed or self._under_way > others or (self._waiting and not late):
                return
            old, self._waiting = self._waiting, None
        if old is not None:
            self._end(old.place)
        try:
            made_from = self._surroundings(more)
            place = self._make(more)
        except (OSError, SandboxError):
            return  # the next run is started without it, and reports what is wrong
        with self._lock:
            if self._waiting is None and not self._closed:
                until_s = time.monotonic() + FRESH_S
                self._waiting = _Waiting(place, more, made_from, until_s)
                return
        place.close()

    def _end(self, place: LivingPlace) -> None:
        place.place.ask_to_end()
        with self._lock:
            self._ending.append(place)

    def close(self) -> bool:
        """End what waits; False if that can't be done."""
        if self._owner != os.getpid():
            return True
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, None
            places, self._ending = self._ending, []
        if waiting is not None:
            places.append(waiting.place)
        for place in places:
            place.place.ask_to_end()
        self._mounts.close()
        ended = [place.close() for place in places]
        return all(ended)


class _Mounts:
    """Whether anything was mounted or unmounted where the caller is, proc_pid_mounts(5)."""

    def __init__(self) -> None:
        self._fd = -1
        self._count = 0

    def changes(self) -> int:
        """How often a change was seen."""
        if self._fd < 0:
            self._fd = os.open("/proc/self/mounts", os.O_RDONLY | os.O_CLOEXEC)
        poll = select.poll()
        poll.register(self._fd, select.POLLPRI)
        self._count += bool(poll.poll(0))
        return self._count

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _of_caller() -> tuple[object, ...]:
    """What a process has from the one that starts it, and a guest may notice."""
    return (
        os.getresuid(),
        os.getresgid(),
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getaffinity(0),
        tuple(map(resource.getrlimit, _LIMITS)),
        _identity("/proc/self/ns/mnt"),
    )


def _identity(path: str) -> _Identity | None:
    try:
        about = os.stat(path) if path.startswith("/proc/self/ns/") else os.lstat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _was_alone(result: Result) -> bool:
    """It had one process, which has ended."""
    left = result.left_running or result.left_running_more
    return result.usage.processes == 1 and not left


def _has_ended(place: LivingPlace) -> bool:
    return place.place.child.gone() and place.close()
