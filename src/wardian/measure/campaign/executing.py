"""Perform units of work in parallel, the most important first, until done or out of time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from wardian.measure.campaign.config import usual_jobs
from wardian.measure.campaign.performing import Produced, perform
from wardian.measure.campaign.units import Unit
from wardian.measure.campaign.workbench import Workbench
from wardian.sandbox.run.interrupting import run_pool

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
        lock = threading.Lock()

        def work(unit: Unit) -> None:
            produced = perform(unit)
            with lock:
                if not stopped.is_set():
                    on_done(unit, produced)

        stopped = threading.Event()
        with run_pool(self.jobs, name="unit", on_stop=stopped.set) as workers:
            return workers.until(lambda: _late(deadline), work, units)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
