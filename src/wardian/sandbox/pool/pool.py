"""``Pool``: sandboxes whose walls stand, waiting for their command; each is used once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wardian.errors import UsageError
from wardian.sandbox.asynchronous import _elsewhere
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
    from wardian.sandbox.pool.interpreter import ScriptRequest, Waiting
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
        python: str | None = None,
        preload: Sequence[str] = (),
        on_progress: Callable[[str], None] | None = None,
    ) -> None:
        """``skill``, ``packages``, ``programs`` and ``on_progress`` are as in ``Sandbox.create``.
        With ``python``, such an interpreter waits in each sandbox for ``run_python``, the modules
        in ``preload`` loaded.

        Making them begins at once, in threads; what goes wrong there is raised by the run that
        finds none. Raises UsageError, SandboxError, and what ``Sandbox.create`` raises.
        """
        if not isinstance(ready, int) or not 1 <= ready <= MOST:
            raise UsageError(f"ready must be between 1 and {MOST}")
        if preload and python is None:
            raise UsageError("preload needs an interpreter", hint='python="python3"')
        self._python = python
        self._door = Sandbox.create(
            policy, skill=skill, packages=packages, programs=programs, on_progress=on_progress
        )
        self._runs = Runs()
        self._known: dict[str, Placed] = {}
        self._backend = Wardian()
        self._backend.programs = tuple(programs)
        self._stock: Stock[LivingPlace] | Stock[Waiting]
        try:
            self._backend.prepare(self._door.policy, pooled=True)
            if python is None:
                self._stock = self._places = Stock(_maker(self._backend), _is_good, ready)
            else:
                self._stock = self._interpreters = _warm(self._backend, python, preload, ready)
        except BaseException:
            self._door.close()
            raise
        self._is_seen = self._backend.shares_for_writing or self.policy.network != "none"
        self._stock.begin()
        self._end = weakref.finalize(self, _end, self._stock, self._runs, self._door, os.getpid())

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

    # Commands

    def run(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """Run a command to its end in a sandbox that nobody else has; the options are those of
        ``Sandbox.run``. What it leaves running is ended. Where none waits, or none has the
        program, or interpreters wait in them, one is made for it. Raises SandboxError, UsageError.
        """
        job = self._door._job(command, **options)
        placed = self._placed(job)
        place = self._take(placed)
        result = None
        try:
            result = self._begun(place.start(job, placed.argv, placed.env)).pump()
        finally:
            self._return(place, result)
        return result

    async def run_async(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """``run`` on the running asyncio loop; cancelling it ends the run."""
        job = self._door._job(command, **options)
        placed = self._placed(job)
        place = await _elsewhere(self._take, placed)
        result = None
        try:
            result = await self._begun(place.start(job, placed.argv, placed.env)).pump_async()
        finally:
            self._return(place, result)
        return result

    def _placed(self, job: Job) -> Placed:
        """The command as it reads inside; known, where nothing of it can change meanwhile."""
        program = job.argv[0]
        fixed = program == self._python or program.startswith(("/usr/", "/bin/"))
        if not fixed or job.env or self.policy.pass_env:
            return self._backend.placed(job)
        if program not in self._known:
            self._known[program] = self._backend.placed(job)
        known = self._known[program]
        return known._replace(argv=(known.argv[0], *job.argv[1:]))

    def _take(self, placed: Placed) -> LivingPlace:
        self._stock.check()
        if self._python is not None:
            return self._backend.spare(placed.more)
        place = self._places.take()
        if place.has(placed.more):
            return place
        self._places.return_unused(place)
        return self._backend.spare(placed.more)

    # Scripts

    def run_python(
        self,
        script: str | None = None,
        args: Sequence[str] = (),
        *,
        code: str | None = None,
        **options: Unpack[CommandOptions],
    ) -> Result:
        """Run a script (its path inside), or code, as ``python3 SCRIPT ARGS`` and ``python3 -c CODE
        ARGS`` do, in an interpreter that nobody else has; the options are those of ``run``. Raises
        SandboxError, UsageError."""
        asked, job, placed = self._script(script, args, code, options)
        waiting = self._interpreters.take()
        result = None
        try:
            result = asked.counted(self._told(waiting, asked, job, placed).pump())
        finally:
            self._return(waiting.place, result)
        return result

    async def run_python_async(
        self,
        script: str | None = None,
        args: Sequence[str] = (),
        *,
        code: str | None = None,
        **options: Unpack[CommandOptions],
    ) -> Result:
        """``run_python`` on the running asyncio loop; cancelling it ends the run."""
        asked, job, placed = self._script(script, args, code, options)
        waiting = await _elsewhere(self._interpreters.take)
        result = None
        try:
            process = self._told(waiting, asked, job, placed)
            result = asked.counted(await process.pump_async())
        finally:
            self._return(waiting.place, result)
        return result

    def _script(
        self, path: str | None, args: Sequence[str], code: str | None, options: CommandOptions
    ) -> tuple[ScriptRequest, Job, Placed]:
        from wardian.sandbox.pool.interpreter import ScriptRequest

        if self._python is None:
            raise UsageError("this pool has no interpreters", hint='Pool(python="python3")')
        script = ScriptRequest.of(path, args, code)
        job = self._door._job([self._python, *script.words], **options)
        placed = self._placed(job)
        return script.with_request(job, placed.env), job, placed

    def _told(self, waiting: Waiting, script: ScriptRequest, job: Job, placed: Placed) -> Process:
        if waiting.fits(job):
            return self._begun(waiting.process(script, job))
        waiting.drop()
        return self._begun(waiting.place.start(job, placed.argv, placed.env))

    # Their end

    def _begun(self, process: Process) -> Process:
        self._runs.add(process)
        if not self._end.alive:  # closed meanwhile, by another thread
            process.end()
            raise UsageError("this pool is closed")
        return process

    def _return(self, place: LivingPlace, result: Result | None) -> None:
        """What was left running could still be heard of where something is shared: there, and
        where something is known to be left, it has ended before the result is returned."""
        alone = result is not None and not (result.left_running or result.left_running_more)
        if alone and self._is_seen:
            alone = result is not None and result.usage.processes == 1
        if alone:
            self._stock.return_used(place)
        else:
            place.close()

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
        await _elsewhere(self.close)

    def __repr__(self) -> str:
        return f"<Pool {f'{self.waiting} waiting' if self._end.alive else 'closed'}>"


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


def _is_good(place: LivingPlace) -> bool:
    return not place.place.gone


def _warm(backend: Wardian, python: str, preload: Sequence[str], ready: int) -> Stock[Waiting]:
    from wardian.sandbox.pool.interpreter import Waiting, maker

    return Stock(maker(backend, python, preload), Waiting.is_good, ready)


def _end(stock: Stock[LivingPlace] | Stock[Waiting], runs: Runs, door: Sandbox, owner: int) -> None:
    if owner != os.getpid():
        return
    stock.stop()
    runs.end()
    stock.close()
    door.close()
