"""The door through which everything runs: ``Sandbox.run(command) -> Result``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from wardian.errors import SandboxError, UsageError
from wardian.sandbox.backends import Backend, Copies, Job, OnRefusal, backend
from wardian.sandbox.policy.policy import Policy, check_environment_name, check_limits
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run.process import Process, Runs, refuse_broken_off
from wardian.sandbox.run.result import Result
from wardian.sandbox.run.traffic import OnBytes

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    import socket
    from typing import TypedDict, Unpack, cast

    from wardian.sandbox.asynchronous import AsyncSandbox
    from wardian.sandbox.backends import LivingBackend
    from wardian.sandbox.files.files import Files
    from wardian.sandbox.network.asking import OnConnect
    from wardian.sandbox.network.in_force import RulesInForce
    from wardian.sandbox.paths.held import Held
    from wardian.sandbox.ports import Forward
    from wardian.sandbox.python.session import PythonSession
    from wardian.sandbox.run.place import Place
    from wardian.sandbox.run.result import Refusal
    from wardian.sandbox.run.unreached import OnUnreached
    from wardian.sandbox.workdir import WorkDir

    class CommandOptions(TypedDict, total=False):
        """How one command is run, whatever the policy; the keywords of ``run`` and its kin."""

        cwd: str | None  # inside; relative to /work
        env: Mapping[str, str] | None
        input: bytes | str | None
        timeout_s: float | str | None  # 30, "30s"; may tighten the policy's limit, never loosen it
        on_stdout: OnBytes | None  # gets output as it comes, which is not in the result then
        on_stderr: OnBytes | None
        keep: bool  # also in the result what a callback takes


else:

    def cast(kind, value):
        """typing's, which costs much to load."""
        return value


class Sandbox:
    """One place in which commands run under one policy. Safe to use from many threads at once.

    Its commands share root, ``/tmp``, home, processes, loopback and limits until ``close``; each
    has streams and a time limit of its own. Made with ``fresh=True``, each run gets new namespaces
    instead, and only ``/work`` lasts. ``/work`` inside is private, unless the policy names a work
    directory: then it is that one, on the host.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        backend_name: str = "wardian",
        private_work: bool = False,
        living: bool = False,
        programs: Sequence[str] = (),
        on_connect: OnConnect | None = None,
    ) -> None:
        """With ``private_work`` each run has an empty /work in memory, and ``files`` has none.
        ``living`` and ``programs`` are as in ``create``; ``on_connect`` is asked about what no rule
        of a network by name allows (docs/network.md)."""
        self.policy = policy if policy is not None else Policy.default()
        check_limits(self.policy.limits)
        if on_connect is not None and self.policy.network != "names":
            raise UsageError(
                "on_connect needs a network by name; this policy has none",
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
        self._place: LivingBackend | None = None
        if living and backend_name == "wardian":
            self._place = cast("LivingBackend", self._backend)
            self._place.programs = tuple(programs)
        self._forwards: list[Forward] = []
        self._directories: dict[str, int] = {}
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
        fresh: bool = False,
        programs: Sequence[str] = (),
        grant: bool = False,
        on_progress: Callable[[str], None] | None = None,
        on_connect: OnConnect | None = None,
    ) -> Sandbox:
        """A sandbox, usually in a ``with`` statement; with a ``skill`` at /skill, the packages that
        it declares, and ``packages`` (``pandas``, ``npm:marked``) first on PATH.

        With ``fresh`` each run gets namespaces of its own; the other backends know nothing else.
        ``programs`` are those outside of /usr that a later command may name: a place has what its
        first command needs, and these.

        ``grant`` allows the network that the skill asks for. ``on_progress`` gets a line where
        packages have to be prepared, and what the skill asks for. Raises UsageError for a name that
        is no package's and for a grant that can't be made, SkillError and NothingMatched for a
        skill that can't be used, PreparationError for packages that can't be had, and SandboxError.
        """
        if grant and skill is None:
            raise UsageError("grant=True is for a skill's requests", hint="skill=…")
        if skill is None and not packages:
            return cls(
                policy,
                backend_name=backend,
                living=not fresh,
                programs=programs,
                on_connect=on_connect,
            )
        if isinstance(packages, (str, bytes)) or not all(isinstance(one, str) for one in packages):
            raise UsageError("packages is a list of names", hint='packages=["pandas"]')
        from wardian.runner.assembly import surroundings

        around, over = surroundings(
            policy if policy is not None else Policy.default(),
            skill,
            packages,
            grant=grant,
            backend=backend,
            say=on_progress or (lambda line: None),
        )
        try:
            sandbox = cls(
                around,
                backend_name=backend,
                living=not fresh,
                programs=programs,
                on_connect=on_connect,
            )
        except BaseException:
            over()
            raise
        sandbox._over = over
        return sandbox

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> AsyncSandbox:
        from wardian.sandbox.asynchronous import AsyncSandbox

        self._awaited = AsyncSandbox(self)
        return self._awaited

    async def __aexit__(self, *error: object) -> None:
        await self._awaited.close()

    def __repr__(self) -> str:
        state = "closed, " if self._closed else ""
        return f"<Sandbox {state}{self._backend.name}: {self.policy!r}>"

    def close(self) -> None:
        """End the runs that go on, then remove the private work directory, if there is one. Safe to
        call twice, and from any thread. Raises SandboxError for what can't be ended or removed."""
        self._closed = True
        if self._owner != os.getpid():
            return
        for forward in self._forwards:
            forward.close()
        with self._lock:
            directories, self._directories = self._directories, {}
        for fd in directories.values():
            os.close(fd)
        ours = self._backend.name == "wardian"
        ended = not ours or cast("LivingBackend", self._backend).close()
        ended = self._runs.end() and ended
        if self._over is not None:
            self._over()
        if self._held is not None:
            self._held.close()
        if self._own_work is not None:
            self._own_work.remove()
        elif not ended:
            raise SandboxError("a run of this sandbox could not be ended within a minute")

    @property
    def living(self) -> bool:
        """Do its commands share one place?"""
        return self._place is not None

    def connect(self, port: int, *, wait_s: float = 0.0) -> socket.socket:
        """A socket connected to what listens on a port inside; ``wait_s`` is how long to wait for
        it to listen. Raises PortClosed, UsageError, SandboxError."""
        from wardian.sandbox.ports import connected

        return connected(self._in_place("connect"), port, wait_s=wait_s)

    def forward(self, port: int, host_port: int = 0) -> Forward:
        """Make a port inside reachable on the host's 127.0.0.1, at ``host_port`` or at one that is
        free, until the forward or the sandbox is closed. Raises UsageError, SandboxError."""
        from wardian.sandbox.ports import Forward

        forward = Forward(self._in_place("forward"), port, host_port)
        self._forwards.append(forward)
        return forward

    def python(self, python: str = "python3") -> PythonSession:
        """A Python that runs one cell of code after another and keeps their state, for code
        interpreters; it starts with the first cell. Raises UsageError."""
        from wardian.sandbox.python.session import PythonSession

        return PythonSession(self, python)

    def _in_place(self, what: str) -> Place:
        """The place, started if it is not. Raises UsageError where there can be none."""
        if self._closed:
            raise UsageError("this sandbox is closed")
        if self._place is None:
            raise UsageError(
                f"{what} needs a living sandbox",
                hint="omit fresh=True, and use the backend wardian",
            )
        self._prepare()
        network = self.network if self.policy.network == "names" else None
        return self._place.living(job=Job((), {}, network=network)).place

    @property
    def files(self) -> Files:
        """Its files, from outside; no link of the guest's is ever followed."""
        if self._closed:
            raise UsageError("this sandbox is closed")
        from wardian.sandbox.files.files import Files
        from wardian.sandbox.files.places import roots_of

        on_host = self.policy.work is not None or self._own_work is not None
        inside = self._directory if self._place is not None else None
        return Files(roots_of(self.work_held if on_host or inside is None else None, inside))

    def _directory(self, path: str) -> int:
        """A directory of the place's own, held open until the sandbox closes. Raises
        SandboxError."""
        if self._closed:
            return -1
        place = self._in_place("files")
        with self._lock:
            if path not in self._directories:
                self._directories[path] = place.directory(path)
            return self._directories[path]

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
        """Run a command to its end. A list never passes through a shell. What it left running lives
        on in a living sandbox, and is named in the result. Raises SandboxError."""
        return self._start(self._job(command, **options)._replace(to_the_end=True)).pump()

    async def run_async(self, command: Sequence[str], **options: Unpack[CommandOptions]) -> Result:
        """``run`` on the running asyncio loop; cancelling it ends the run. Raises SandboxError."""
        job = self._job(command, **options)._replace(to_the_end=True)
        if self.on_connect is not None:
            import asyncio

            job = job._replace(event_loop=asyncio.get_running_loop())
        return await self._start(job).pump_async()

    def rerun(
        self,
        result: Result,
        *,
        allow: Iterable[Refusal] = (),
        on_stdout: OnBytes | None = None,
        on_stderr: OnBytes | None = None,
        keep: bool = False,
    ) -> Result:
        """Run the command of a result again, with the same words, directory, variables, input and
        time limit, under this sandbox's policy with what would allow these refusals besides, and
        what an earlier rerun of it was allowed. The sandbox's own policy stays as it is.

        It runs in walls of its own, on the same ``/work``. Raises UsageError for a refusal that
        nothing would allow, and SandboxError.
        """
        return self._again(result, allow, on_stdout, on_stderr, keep).pump()

    async def rerun_async(
        self,
        result: Result,
        *,
        allow: Iterable[Refusal] = (),
        on_stdout: OnBytes | None = None,
        on_stderr: OnBytes | None = None,
        keep: bool = False,
    ) -> Result:
        """``rerun`` on the running asyncio loop; cancelling it ends the run."""
        return await self._again(result, allow, on_stdout, on_stderr, keep).pump_async()

    def _again(
        self,
        result: Result,
        allow: Iterable[Refusal],
        on_stdout: OnBytes | None,
        on_stderr: OnBytes | None,
        keep: bool,
    ) -> Process:
        if self._closed:
            raise UsageError("this sandbox is closed")
        from wardian.sandbox.rerunning import rerun

        changes = Job((), {}, on_stdout=on_stdout, on_stderr=on_stderr, keep=keep)
        return self._kept(rerun(self, result, allow, changes, self._own_work))

    def start(
        self,
        command: Sequence[str],
        *,
        pty: bool | tuple[int, int] = False,
        background: bool = False,
        on_trace: OnBytes | None = None,
        trace_every: bool = False,
        **options: Unpack[CommandOptions],
    ) -> Process:
        """Start a command and return its handle; callbacks come from a thread of their own.

        Unless there is ``input``, its standard input stays open for ``process.stdin``, until that
        is closed, or until ``wait`` if nothing was written. ``pty`` gives it a terminal, of 24 rows
        and 80 columns or so many. ``background``: it lives on without its handle and without a
        time limit, until the sandbox closes; of its output the last megabyte is kept. Both need a
        living sandbox. ``on_trace`` is as in ``trace``, and takes a run of its own.
        """
        job = self._interactive(command, options, pty=pty, background=background)
        process = self._start(job._replace(on_trace=on_trace, trace_every=trace_every))
        process.pump_in_thread()
        return process

    def start_unattended(
        self,
        command: Sequence[str],
        *,
        pty: bool | tuple[int, int] = False,
        background: bool = False,
        **options: Unpack[CommandOptions],
    ) -> Process:
        """``start`` for a caller that moves the bytes itself (``pump``, ``pump_async``)."""
        return self._start(self._interactive(command, options, pty=pty, background=background))

    def _interactive(
        self,
        command: Sequence[str],
        options: CommandOptions,
        *,
        pty: bool | tuple[int, int],
        background: bool,
    ) -> Job:
        """A job that its caller talks to. Raises UsageError."""
        if (pty or background) and not self.living:
            self._in_place("pty" if pty else "background")
        job = self._job(command, **options)
        if background and options.get("timeout_s") is None:
            job = job._replace(time_s=None)
        size = (24, 80) if pty is True else pty or None
        return job._replace(
            stdin=job.input_bytes is None and size is None, pty=size, background=background
        )

    def start_given(
        self,
        command: Sequence[str],
        streams: tuple[int | None, ...],
        *,
        pty: tuple[int, int] | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> Process:
        """Start a command in a living sandbox on pipes whose other ends the caller has: the guest's
        three, None for /dev/null. They stay the caller's to close; nothing is collected or counted.
        With ``pty`` there are none, and ``process.living.hand_over_terminal()`` has the terminal.
        ``pump`` waits for the end. Raises SandboxError, UsageError."""
        self._in_place("start_given")
        job = self._job(command, cwd=cwd, env=env, timeout_s=timeout_s)
        given = (None, None, None) if pty is not None else streams
        return self._start(job._replace(given=given, pty=pty))

    @property
    def ended(self) -> bool:
        """Has the place of this living sandbox ended, by a limit or from outside?"""
        return self._closed or (
            self._place is not None and self._prepared and self._place.living().place.gone
        )

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
        """``run``, reporting all that is done: ``on_trace`` gets the stream that
        ``wardian.observe.events`` reads, ``every`` call in it rather than each thing once. It takes
        a run of its own, which shares only ``/work`` with a living sandbox.
        """
        job = self._job(command, **options)
        return self._start(job._replace(on_trace=on_trace, trace_every=every)).pump()

    def _start(self, job: Job) -> Process:
        if self._closed:
            raise UsageError("this sandbox is closed")
        refuse_broken_off()
        if job.on_trace is not None and self._backend.name not in ("wardian", "landlock"):
            raise UsageError(f"the backend {self._backend.name} can't trace")
        if self.policy.network == "names":
            job = job._replace(network=self.network)
        self._prepare()
        if self._place is not None and job.on_trace is None and not job.inherit:
            process = self._place.start_inside(job)
        else:
            process = self._backend.start(job)
        if not job.inherit:
            from wardian.sandbox.rerunning import given_by

            process.given = given_by(job, self.policy)
        return self._kept(process)

    def _kept(self, process: Process) -> Process:
        """The run ends with this sandbox, and /work not before it."""
        process.keeps = self._own_work
        self._runs.add(process)
        if self._closed:  # meanwhile, by another thread
            process.end()
            raise UsageError("this sandbox is closed")
        return process

    def _prepare(self) -> None:
        with self._lock:
            if not self._prepared:
                own_work = self._own_work.path if self._own_work is not None else None
                self._backend.prepare(self.policy, own_work=own_work)
                if self.policy.work is not None:
                    _ = self.work_held  # before a guest can put another one in its place
                self._prepared = True

    def _job(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        input: bytes | str | None = None,
        timeout_s: float | str | None = None,
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
        if timeout_s is not None:
            from wardian.sandbox.policy.setting import limit_value

            timeout_s = limit_value("time_s", timeout_s, "timeout_s")
        data = input.encode() if isinstance(input, str) else input
        inside = os.path.join(WORK, cwd) if cwd is not None else None
        time_s = self._time_s(timeout_s)
        return Job(argv, variables, inside, data, time_s, on_stdout, on_stderr, keep)

    def _time_s(self, timeout_s: float | None) -> float | None:
        """A call may tighten the policy's time limit, never loosen it."""
        limits = [t for t in (timeout_s, self.policy.limits.time_s) if t is not None]
        return min(limits) if limits else None
