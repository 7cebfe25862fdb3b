"""The backend ``wardian``: our own launcher, every wall of it."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Sequence

from wardian.errors import UsageError
from wardian.sandbox.backends import Job, copy_records
from wardian.sandbox.backends.interior import Placed, active, in_order, place
from wardian.sandbox.host import GUEST_COUNT, GUEST_FIRST, Host, fresh_guest_id, this_host
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import Source, admitted
from wardian.sandbox.run import launcher, streams
from wardian.sandbox.run.plan import Plan, finish, make_plan, timed
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import record
from wardian.sandbox.run.starting import uninterrupted
from wardian.sandbox.run.status import interpret
from wardian.sandbox.run.traffic import OnBytes

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable

    from wardian.sandbox.backends.living import LivingPlace
    from wardian.sandbox.backends.spare import Spares
    from wardian.sandbox.network.by_request import ByRequest
    from wardian.sandbox.network.gateway import Gateway
    from wardian.sandbox.network.outcomes import RefusedName
    from wardian.sandbox.run.result import Caller
    from wardian.syscalls.watching import Scope


class Wardian:
    """Plans once for a policy, then launches."""

    name = "wardian"

    def __init__(self, *, binary: str = launcher.LAUNCHER, extra: bytes = b"") -> None:
        """``binary`` and ``extra`` records are for tests, which have a launcher of their own."""
        self._binary, self._extra = binary, extra
        self._plans: dict[tuple[tuple[Source, ...], bool], Plan] = {}
        self.programs: tuple[str, ...] = ()  # of a living sandbox
        self._lock = threading.Lock()
        self._living: LivingPlace | None = None
        self._closed = False
        self._by_request: ByRequest | None = None
        self._spares: Spares | None = None
        self._runs = 0

    def prepare(self, policy: Policy, *, own_work: str | None = None, pooled: bool = False) -> None:
        """Resolve the shares and plan; ``pooled``: nobody was anywhere else before it came to an
        empty /work. Raises SandboxError."""
        self._policy = policy
        self._host: Host = this_host()
        self._sources = admitted(policy, own_work, WORK, copies=True)
        self._around = active(policy, self._sources)
        if policy.tls and policy.network == "names":
            self._watch_requests(policy)
        self._empty_work = not (pooled or policy.work or own_work)
        self._shared_extra = self._extra  # what does not differ between places
        if own_work is not None:
            self._extra += record("discard", own_work)
        if self._host.is_root:
            self._extra += record("host-id", _guest_of(self._sources))
        self._plans.clear()
        self._plan(self._around.sources, traced=False)

    def _watch_requests(self, policy: Policy) -> None:
        from wardian.sandbox.network.by_request import ByRequest

        self._by_request = ByRequest(policy, self._sources)
        self._sources = [*self._sources, *self._by_request.sources]
        self._extra += record("discard", self._by_request.path)

    def _plan(self, more: tuple[Source, ...], *, traced: bool) -> Plan:
        if (more, traced) not in self._plans:
            sources = in_order((*more, *self._sources))
            watch: Scope | None = "everything" if traced else None
            plan = make_plan(
                self._policy, sources, self._host, watch=watch, empty_work=self._empty_work
            )
            self._plans[more, traced] = plan
        return self._plans[more, traced]

    def start_inside(self, job: Job) -> Process:
        """Start it in the one living sandbox of this backend. Raises SandboxError."""
        argv, env, more = self.placed(job)
        living = self.living(more, job)
        living.check(argv[0], more)
        return uninterrupted(functools.partial(living.start, job, argv, env))

    def living(self, more: tuple[Source, ...] | None = None, job: Job | None = None) -> LivingPlace:
        """Started when it is first wanted, with what its first command needs. Raises
        SandboxError, and UsageError once it was closed."""
        with self._lock:
            if self._closed:  # meanwhile, by another thread
                raise UsageError("this sandbox is closed")
            if self._living is None:
                from wardian.sandbox.backends.living import LivingPlace

                every = dict.fromkeys((*(more or self._around.sources), *self._named_programs()))
                plan = self._plan(tuple(every), traced=False)
                job = job or Job((), {})
                self._living = LivingPlace(
                    plan,
                    self._policy,
                    self._host.arch,
                    self._extra + _asked_about(job),
                    self._binary,
                    self._new_gateway(job),
                )
            return self._living

    def spare(self, more: tuple[Source, ...] = ()) -> LivingPlace:
        """One more place under the same policy, which is its caller's to close. Safe to call from
        many threads. Raises SandboxError."""
        from wardian.sandbox.backends.living import LivingPlace

        with self._lock:
            every = dict.fromkeys((*self._around.sources, *more, *self._named_programs()))
            plan = self._plan(tuple(every), traced=False)
            extra = self._shared_extra
            if self._host.is_root:
                extra += record("host-id", _guest_of(self._sources))
        gateway = self._new_gateway(Job((), {}))
        return LivingPlace(plan, self._policy, self._host.arch, extra, self._binary, gateway)

    @property
    def shares_for_writing(self) -> bool:
        """Can a guest leave anything outside of its own place?"""
        return any(source.write for source in self._sources)

    def placed(self, job: Job) -> Placed:
        """The command as it reads inside. Raises ShareError."""
        placed = place(job, self._policy, self._sources, self._around)
        if self._by_request is None:
            return placed
        return placed._replace(env=placed.env | dict(self._by_request.variables))

    def _named_programs(self) -> list[Source]:
        """The sources of the programs that were named when the sandbox was made."""
        jobs = (Job((program,), {}) for program in self.programs)
        return [
            source
            for job in jobs
            for source in place(job, self._policy, self._sources, self._around).more
        ]

    def close(self) -> bool:
        """End the living sandbox, if there is one; False if that can't be done."""
        with self._lock:
            living, self._living = self._living, None
            spares, self._spares = self._spares, None
            self._closed = True
        ended = spares is None or spares.close()
        return (living is None or living.close()) and ended

    def start(self, job: Job) -> Process:
        """Launch. Raises SandboxError."""
        placed = self.placed(job)
        plan = self._plan(placed.more, traced=job.on_trace is not None)
        launch = functools.partial(self._launch, job, plan, placed.argv, placed.env)
        spares = self._kept_spares() if job.to_the_end else None
        if spares is not None:
            launch = functools.partial(spares.start, job, placed, launch)
        return uninterrupted(launch)

    def _kept_spares(self) -> Spares | None:
        """From the second run on, where nothing but the host's own files and directories is in a
        place: one run alone does not pay for another."""
        with self._lock:
            self._runs += 1
            if self._spares is None and self._runs > 1 and not self._closed and self._can_wait():
                from wardian.sandbox.backends.spare import Spares

                self._spares = Spares(self._make_spare, self._mounted())
            return self._spares

    def _can_wait(self) -> bool:
        """A network is the run's own; a copy shows what it lies over as it was."""
        policy = self._policy
        copies = any(source.copy for source in self._sources)
        return policy.network == "none" and policy.rootfs is None and not copies

    def _mounted(self) -> list[str]:
        from wardian.sandbox.root.root import base

        parts = base(self._policy.rootfs, self._policy.base)
        of_host = [part.source for part in parts if part.link is None]
        return [*of_host, *(source.path for source in self._sources)]

    def _make_spare(self, more: tuple[Source, ...]) -> LivingPlace:
        from wardian.sandbox.backends.living import LivingPlace
        from wardian.sandbox.backends.spare import records_of

        plan = self._plan(more, traced=False)
        extra = self._extra + records_of(plan)
        return LivingPlace(plan, self._policy, self._host.arch, extra, self._binary)

    def _launch(self, job: Job, plan: Plan, argv: tuple[str, ...], env: dict[str, str]) -> Process:
        try:
            given, ends = self._streams(job)
        except OSError as error:
            raise launcher.explained(error, self._binary) from None
        data = finish(
            plan,
            argv=argv,
            env=env,
            cwd=job.cwd,
            streams=given.kinds,
            parent=os.getpid(),
            time_s=job.time_s,
            keep_session=given.keep_session,
            extra=self._extra + _traced(job) + _asked_about(job) + copy_records(job),
        )
        gateway = self._gateway(given.fds, job)
        try:
            launched = launcher.spawn_and_give(data, given.fds, ends, self._binary)
        except BaseException:
            if gateway is not None:
                gateway.close()
            raise
        if gateway is not None:
            gateway.start(launched.pid)
        outputs = {ends[i]: on for i, on in ((1, job.on_stdout), (2, job.on_stderr)) if i in ends}
        traces = {} if job.on_trace is None else {ends[launcher.FD_TRACE]: job.on_trace}
        process = Process(
            launched,
            functools.partial(
                interpret,
                command=job.argv,
                plan=timed(plan, job.time_s),
                arch=self._host.arch,
                policy=self._policy,
                gateway=gateway,
            ),
            outputs=outputs,
            stdin=None if job.stdin else ends.get(0),
            input_bytes=job.input_bytes or b"",
            traces=traces,
            keep=job.keep,
            time_s=job.time_s,
            on_status=_listener(job),
        )
        if job.stdin:
            from wardian.sandbox.run.interaction import Input

            process.input = Input(ends[0])
        return process

    def _new_gateway(self, job: Job) -> Gateway | None:
        if self._policy.network != "names":
            return None
        from wardian.sandbox.network.gateway import Gateway
        from wardian.sandbox.network.in_force import RulesInForce

        network = job.network or RulesInForce.of(self._policy)
        return Gateway(network, self._policy, _live(job), job.event_loop, self._by_request)

    def _gateway(self, fds: dict[int, int], job: Job) -> Gateway | None:
        gateway = self._new_gateway(job)
        if gateway is not None:
            fds[launcher.FD_GATEWAY] = launcher.raised(os.dup(gateway.launchers_end.fileno()))
        return gateway

    def shortfall(self, policy: Policy) -> tuple[str, ...]:
        """It says so itself, by WallError."""
        return ()

    def version(self) -> str:
        """None of its own."""
        return ""

    def _streams(self, job: Job) -> tuple[streams.Streams, dict[int, int]]:
        """What the launcher gets, and our own ends by stream number."""
        given, ends = self._standard_streams(job)
        if job.on_trace is not None:
            ends[launcher.FD_TRACE], given.fds[launcher.FD_TRACE] = launcher.pipe()
        return given, ends

    def _standard_streams(self, job: Job) -> tuple[streams.Streams, dict[int, int]]:
        if job.inherit and job.copies is not None:
            given = streams.inherited(tty=job.tty, seen=True)
            streams.copied(given, job.copies[:2])
            return given, {}
        if job.inherit:
            return streams.inherited(tty=job.tty), {}
        return streams.captured(has_input=bool(job.input_bytes) or job.stdin)


def _live(job: Job) -> Callable[[RefusedName, Caller | None], None] | None:
    """The callback that reports a refused name to the caller at once."""
    heard = job.on_refusal
    if heard is None:
        return None
    from wardian.sandbox.refusals.network import by_rule

    def report(refused: RefusedName, caller: Caller | None) -> None:
        refusal = by_rule(refused, {})
        heard(refusal if caller is None else refusal._replace(process=caller))

    return report


def _asked_about(job: Job) -> bytes:
    """Routes to the gateway for every address: who is asked may allow any."""
    if job.network is None or job.network.asking is None:
        return b""
    import socket

    families = ((socket.AF_INET, 4), (socket.AF_INET6, 16))
    return b"".join(record("route", int(family), 0, bytes(size)) for family, size in families)


def _traced(job: Job) -> bytes:
    if job.on_trace is None:
        return b""
    return record("flag", "trace-every" if job.trace_every else "trace")


def _listener(job: Job) -> OnBytes | None:
    """Loads what reads the lines when there is one to read."""
    if job.on_unreached is None:
        return None
    on_unreached, heard, listeners = job.on_unreached, list[bytes](), list[OnBytes]()

    def hear(data: bytes) -> None:
        heard.append(data)
        if not listeners and b'"event":"unreached"' in data:
            from wardian.sandbox.run.unreached import UnreachedLines

            listeners.append(UnreachedLines(on_unreached))
        if listeners:
            listeners[0](b"".join(heard))
            heard.clear()

    return hear


def _guest_of(sources: Sequence[Source]) -> int:
    """Who root's guest is outside: whoever a writable share was made for, or someone new."""
    mine = range(GUEST_FIRST, GUEST_FIRST + GUEST_COUNT)
    for source in sources:
        if source.write:
            try:
                owner = os.lstat(source.path).st_uid
            except OSError:
                continue  # the launcher reports it
            if owner in mine:
                return owner
    fresh = fresh_guest_id()
    return fresh if fresh in mine else GUEST_FIRST


backend = Wardian
