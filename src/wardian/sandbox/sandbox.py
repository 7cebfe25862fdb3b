"""The door through which everything runs: ``Sandbox.run(command) -> Result``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.backends import Backend, Copies, Job, OnRefusal, backend
from wardian.sandbox.policy.policy import Policy, check_environment_name
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run.process import Process, Runs
from wardian.sandbox.run.result import Result
from wardian.sandbox.run.traffic import OnBytes

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from wardian.sandbox.files import Files
    from wardian.sandbox.network.asking import OnConnect
    from wardian.sandbox.network.in_force import RulesInForce
    from wardian.sandbox.paths.held import Held
    from wardian.sandbox.run.unreached import OnUnreached
    from wardian.sandbox.workdir import WorkDir

    class CommandOptions(TypedDict, total=False):
        """How one command is run, whatever the policy; the keywords of ``run`` and its kin."""

        cwd: str | None  # inside; relative to /work
        env: Mapping[str, str] | None
        input: bytes | str | None
        timeout_s: float | None  # may tighten the policy's limit, never loosen it
        on_stdout: OnBytes | None  # gets output as it comes, which is not in the result then
        on_stderr: OnBytes | None
        keep: bool  # also in the result what a callback takes


class Sandbox:
    """Runs commands under one policy. Safe to use from many threads at once.

    ``/work`` inside is private and lasts as long as the Sandbox: what one run writes, the next one
    and ``files`` see. With a policy that names a work directory it is that one, on the host.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        backend_name: str = "wardian",
        private_work: bool = False,
        on_connect: OnConnect | None = None,
    ) -> None:
        """With ``private_work`` each run has an empty /work in memory, and ``files`` has none.
        ``on_connect`` is asked about what no rule of a network by name allows (docs/network.md)."""
        self.policy = policy if policy is not None else Policy.default()
        if on_connect is not None and self.policy.network != "names":
            raise UsageError(
                "on_connect is asked about a network by name, and this policy has another",
                hint='Policy.default().but(network="names")',
            )
        self.on_connect = on_connect
        self._network: RulesInForce | None = None
        self._own_work: WorkDir | None = None
        self._held: Held | None = None
        self._runs = Runs()
        if self.policy.work is None and not private_work:
            from wardian.sandbox.workdir import WorkDir

            self._own_work = WorkDir(self._runs)
        self._backend: Backend = backend(backend_name)
        self._lock = threading.Lock()
        self._prepared = self._closed = False
        self._over: Callable[[], None] | None = None  # when the last run has ended
        self._owner = os.getpid()  # a process forked off this one ends nothing of it

    @classmethod
    def create(
        cls,
        policy: Policy | None = None,
        *,
        backend: str = "wardian",
        skill: str | os.PathLike[str] | None = None,
        packages: Sequence[str] = (),
        on_progress: Callable[[str], None] | None = None,
        on_connect: OnConnect | None = None,
    ) -> Sandbox:
        """A sandbox, usually in a ``with`` statement; with a ``skill`` at /skill, the packages that
        it declares, and ``packages`` (``pandas``, ``npm:marked``) first on PATH.

        ``on_progress`` gets a line where packages have to be prepared. Raises UsageError for a name
        that is no package's, SkillError and NothingMatched for a skill that can't be used,
        PreparationError for packages that can't be had, and SandboxError.
        """
        if skill is None and not packages:
            return cls(policy, backend_name=backend, on_connect=on_connect)
        if isinstance(packages, (str, bytes)) or not all(isinstance(one, str) for one in packages):
            raise UsageError("packages is a list of names", hint='packages=["pandas"]')
        from wardian.runner.assembly import surroundings

        around, over = surroundings(
            policy if policy is not None else Policy.default(),
            skill,
            packages,
            backend=backend,
            say=on_progress or (lambda line: None),
        )
        try:
            sandbox = cls(around, backend_name=backend, on_connect=on_connect)
        except BaseException:
            over()
            raise
        sandbox._over = over
        return sandbox

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the runs that go on, then remove the private work directory, if there is one. Safe to
        call twice, and from any thread. Raises SandboxError for what can't be ended or removed."""
        self._closed = True
        if self._owner != os.getpid():
            return
        ended = self._runs.end()
        if self._over is not None:
            self._over()
        if self._held is not None:
            self._held.close()
        if self._own_work is not None:
            self._own_work.remove()
        elif not ended:
            raise SandboxError("a run of this sandbox could not be ended within a minute")

    @property
    def files(self) -> Files:
        """The files in ``/work``, from outside; no link of the guest's is ever followed."""
        if self._closed:
            raise UsageError("this sandbox is closed")
        from wardian.sandbox.files import Files

        return Files(self.work_held)

    @property
    def network(self) -> RulesInForce:
        """The rules of its network by name that are in force: ``allow`` and ``withdraw`` change
        them, for runs that go on, too. Raises UsageError for a policy with another network."""
        if self.policy.network != "names":
            raise UsageError("this sandbox has no network by name")
        with self._lock:
            if self._network is None:
                from wardian.sandbox.network.in_force import RulesInForce

                self._network = RulesInForce.of(self.policy, self.on_connect)
            return self._network

    @property
    def work_held(self) -> Held:
        """The work directory itself, open since before the first run: another one that a guest
        put in its place, where it may write around it, is not taken for it. Raises OSError."""
        if self.policy.work is None:
            if self._own_work is None:
                raise UsageError("this sandbox has no work directory")
            return self._own_work.held
        if self._held is None:
            from wardian.sandbox.paths.held import Held

            self._held = Held.named(self.policy.work, "work")
        return self._held

    @property
    def work_path(self) -> str:
        """Where ``/work`` is on the host; what lies in it is the guest's, links included."""
        if self.policy.work is not None:
            return self.policy.work
        if self._own_work is None:
            raise UsageError("this sandbox has no work directory")
        return self._own_work.path

    def run(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """Run a command to its end. A list never passes through a shell. Raises SandboxError."""
        return self._start(self._job(command, **options)).pump()

    async def run_async(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """``run`` on the running asyncio loop; cancelling it ends the run. Raises SandboxError."""
        job = self._job(command, **options)
        if self.on_connect is not None:
            import asyncio

            job = job._replace(event_loop=asyncio.get_running_loop())
        return await self._start(job).pump_async()

    def start(
        self,
        command: Sequence[str],
        *,
        on_trace: OnBytes | None = None,
        trace_every: bool = False,
        **options: Unpack[CommandOptions],
    ) -> Process:
        """Start a command and return its handle; callbacks come from a thread of their own.

        ``on_trace`` is as in ``trace``.
        """
        job = self._job(command, **options)
        process = self._start(job._replace(on_trace=on_trace, trace_every=trace_every))
        process.pump_in_thread()
        return process

    def start_inherited(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        tty: bool = False,
        copies: Copies | None = None,
        on_trace: OnBytes | None = None,
        trace_every: bool = False,
        on_unreached: OnUnreached | None = None,
        on_refusal: OnRefusal | None = None,
        tail: bool = False,
    ) -> Process:
        """Start a command on this process's own standard streams; ``pump`` waits for it.

        ``on_trace`` is as in ``trace``; ``on_unreached`` gets each network that a process could not
        reach, as it happens, ``on_refusal`` what a network by name refuses, from a thread of its
        own; with ``tail`` the result has the last of standard error.
        """
        job = self._job(command, cwd=cwd, env=env)
        job = job._replace(
            inherit=True,
            tty=tty,
            copies=copies,
            on_unreached=on_unreached,
            on_refusal=on_refusal,
            tail=tail,
        )
        return self._start(job._replace(on_trace=on_trace, trace_every=trace_every))

    def trace(
        self,
        command: Sequence[str],
        *,
        on_trace: OnBytes,
        every: bool = False,
        **options: Unpack[CommandOptions],
    ) -> Result:
        """``run``, telling all that is done: ``on_trace`` gets the stream that
        ``wardian.observe.events`` reads, ``every`` call in it rather than each thing once.
        """
        job = self._job(command, **options)
        return self._start(job._replace(on_trace=on_trace, trace_every=every)).pump()

    def _start(self, job: Job) -> Process:
        if self._closed:
            raise UsageError("this sandbox is closed")
        if job.on_trace is not None and self._backend.name != "wardian":
            raise UsageError(f"the backend {self._backend.name} can't trace")
        if self.policy.network == "names":
            job = job._replace(network=self.network)
        with self._lock:
            if not self._prepared:
                own_work = self._own_work.path if self._own_work is not None else None
                self._backend.prepare(self.policy, own_work=own_work)
                if self.policy.work is not None:
                    _ = self.work_held  # before a guest can put another one in its place
                self._prepared = True
        process = self._backend.start(job)
        process.keeps = self._own_work
        self._runs.add(process)
        if self._closed:  # meanwhile, by another thread
            process.end()
            raise UsageError("this sandbox is closed")
        return process

    def _job(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        input: bytes | str | None = None,
        timeout_s: float | None = None,
        on_stdout: OnBytes | None = None,
        on_stderr: OnBytes | None = None,
        keep: bool = False,
    ) -> Job:
        """What the options of a command say, checked. Raises UsageError."""
        if isinstance(command, (str, bytes)):
            raise UsageError(
                "a command is a list of words", hint='for a shell, ask for one: ["sh", "-c", "…"]'
            )
        argv = tuple(os.fsdecode(word) for word in command)
        if not argv or not argv[0] or any("\0" in word for word in argv):
            raise UsageError("a command needs a program, and no word of it can hold a NUL")
        variables = dict(env or {})
        for name, value in variables.items():
            check_environment_name(name)
            if "\0" in value:
                raise UsageError(f"the value of {name} can't hold a NUL")
        if timeout_s is not None and timeout_s <= 0:
            raise UsageError("timeout_s must be above 0")
        data = input.encode() if isinstance(input, str) else input
        inside = os.path.join(WORK, cwd) if cwd is not None else None
        time_s = self._time_s(timeout_s)
        return Job(argv, variables, inside, data, time_s, on_stdout, on_stderr, keep)

    def _time_s(self, timeout_s: float | None) -> float | None:
        """A call may tighten the policy's time limit, never loosen it."""
        limits = [t for t in (timeout_s, self.policy.limits.time_s) if t is not None]
        return min(limits) if limits else None
