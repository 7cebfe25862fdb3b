"""Units of work, several at a time, the most important first, until they are done or time is up."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from wardian.measure.campaign.config import usual_jobs
from wardian.measure.campaign.performing import Produced, perform
from wardian.measure.campaign.units import Unit
from wardian.measure.campaign.workbench import Workbench

OnDone = Callable[[Unit, list[Produced]], None]


class Executor(Protocol):
    """Something that performs units."""

    def run(self, units: Sequence[Unit], on_done: OnDone, deadline: float | None) -> list[Unit]:
        """Perform them in this order; returns those that were not begun before the deadline
        (``time.monotonic()``). ``on_done`` is called for each, never twice, one at a time."""

    def workbench(self) -> tuple[Workbench, tuple[str, ...]] | None:
        """The machines that measure, and their sandboxes; None if it is this one."""

    def close(self) -> None:
        """Let go of what it holds."""


class Local:
    """On this machine, in threads."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or usual_jobs()

    def workbench(self) -> None:
        """It is this one."""

    def close(self) -> None:
        """It holds nothing."""

    def run(self, units: Sequence[Unit], on_done: OnDone, deadline: float | None) -> list[Unit]:
        """See Executor."""
        waiting = deque(units)
        lock = threading.Lock()
        stopped = threading.Event()

        def work() -> None:
            while not stopped.is_set() and not _late(deadline):
                try:
                    unit = waiting.popleft()
                except IndexError:
                    return
                produced = perform(unit)
                with lock:
                    if not stopped.is_set():
                        on_done(unit, produced)

        with ThreadPoolExecutor(self.jobs, thread_name_prefix="unit") as pool:
            try:
                for one in [pool.submit(work) for _ in range(self.jobs)]:
                    one.result()
            except BaseException:
                stopped.set()
                raise
        return list(waiting)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
