"""``Pool``: sandboxes whose walls stand, waiting for their command; each is used once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wardian.errors import UsageError
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.pool.stock import Stock
from wardian.sandbox.run.process import Process, Runs
from wardian.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from typing import Unpack

    from wardian.sandbox.backends import Job
    from wardian.sandbox.backends.interior import Placed
    from wardian.sandbox.backends.living import LivingPlace
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.pool.awaited import AsyncPool
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.sandbox import CommandOptions

MOST = 1000


class Pool:
    """Keeps ``ready`` sandboxes of one policy. Safe to use from many threads at once.

    Each run has a sandbox of its own: ``/work`` (empty, in memory), ``/tmp``, home, processes,
    loopback and limits. Nothing passes from one run to the next, except in what the policy shares:
    its work directory, if it names one, and shares that can be written to.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        ready: int = 4,
        skill: str | os.PathLike[str] | None = None,
        packages: Sequence[str] = (),
        programs: Sequence[str] = (),
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        """``skill``, ``packages``, ``programs`` and ``on_progress`` are as in ``Sandbox.create``.

        Making them begins at once, in threads; what goes wrong there is raised by the run that
        finds none. Raises UsageError, SandboxError, and what ``Sandbox.create`` raises.
        """
        if not isinstance(ready, int) or not 1 <= ready <= MOST:
            raise UsageError(f"ready must be between 1 and {MOST}")
        self._door = Sandbox.create(
            policy, skill=skill, packages=packages, programs=programs, on_progress=on_progress
        )
        self._runs = Runs()
        self._backend = Wardian()
        self._backend.programs = tuple(programs)
        try:
            self._backend.prepare(self._door.policy, pooled=True)
        except BaseException:
            self._door.close()
            raise
        self._is_seen = self._backend.shares_for_writing or self.policy.network != "none"
        self._stock = self._new_stock(ready)
        self._stock.begin()
        self._end = weakref.finalize(self, _end, self._stock, self._runs, self._door, os.getpid())

    def _new_stock(self, ready: int) -> Stock[LivingPlace]:
        return Stock(_maker(self._backend), _put_away, _is_good, ready)

    @property
    def policy(self) -> Policy:
        """Under which everything here runs."""
        return self._door.policy

    @property
    def waiting(self) -> int:
        """How many sandboxes wait for a command now."""
        return self._stock.waiting

    def wait_ready(self, timeout_s: float | None = None) -> bool:
        """Wait until all of them stand; False if that takes longer than ``timeout_s``. Raises
        SandboxError for what hinders it."""
        return self._stock.wait_ready(timeout_s)

    def run(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """Run a command to its end in a sandbox that nobody else has; the options are those of
        ``Sandbox.run``. What it leaves running is ended. Where none waits, or none has the
        program, one is made for it. Raises SandboxError, UsageError."""
        job = self._door._job(command, **options)
        placed = self._backend.placed(job)
        place = self._take(placed)
        result = None
        try:
            result = self._start(place, job, placed).pump()
        finally:
            self._return(place, result)
        return result

    async def run_async(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """``run`` on the running asyncio loop; cancelling it ends the run."""
        from wardian.sandbox.asynchronous import _elsewhere

        job = self._door._job(command, **options)
        placed = self._backend.placed(job)
        place = await _elsewhere(self._take, placed)
        result = None
        try:
            result = await self._start(place, job, placed).pump_async()
        finally:
            self._return(place, result)
        return result

    def _take(self, placed: Placed) -> LivingPlace:
        place = self._stock.take()
        if place.has(placed.more):
            return place
        self._stock.return_unused(place)
        return self._backend.spare(placed.more)

    def _start(self, place: LivingPlace, job: Job, placed: Placed) -> Process:
        process = place.start(job, placed.argv, placed.env)
        self._runs.add(process)
        if not self._end.alive:  # closed meanwhile, by another thread
            process.end()
            raise UsageError("this pool is closed")
        return process

    def _return(self, place: LivingPlace, result: Result | None) -> None:
        """What was left running could still be heard of where something is shared: there it has
        ended before the result is returned."""
        if self._is_seen or result is None or result.left_running or result.left_running_more:
            place.close()
        else:
            self._stock.return_used(place)

    def close(self) -> None:
        """End the runs that go on, and every sandbox that waits. Safe to call twice, and from any
        thread; a process that was forked off this one closes nothing."""
        self._end()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> AsyncPool:
        from wardian.sandbox.pool.awaited import AsyncPool

        return AsyncPool(self)

    async def __aexit__(self, *error: object) -> None:
        from wardian.sandbox.asynchronous import _elsewhere

        await _elsewhere(self.close)

    def __repr__(self) -> str:
        state = f"{self.waiting} waiting" if self._end.alive else "closed"
        return f"<{type(self).__name__} {state}>"


def _maker(backend: Wardian) -> Callable[[], LivingPlace]:
    def make() -> LivingPlace:
        place = backend.spare()
        try:
            place.stands()
        except BaseException:
            place.close()
            raise
        return place

    return make


def _put_away(place: LivingPlace) -> None:
    place.close()


def _is_good(place: LivingPlace) -> bool:
    return not place.place.gone


def _end(stock: Stock[LivingPlace], runs: Runs, door: Sandbox, owner: int) -> None:
    if owner != os.getpid():
        return
    stock.stop()
    runs.end()
    stock.close()
    door.close()
