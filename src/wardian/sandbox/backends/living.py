"""The living sandbox of the backend ``wardian``: walls that stand, and the commands behind them."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence

from wardian.errors import BackendError, SandboxError
from wardian.sandbox.backends import Job
from wardian.sandbox.limits import milliseconds
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.root.shares import Source
from wardian.sandbox.run import launcher
from wardian.sandbox.run.child import LAST_S, SharedChild
from wardian.sandbox.run.living import Living
from wardian.sandbox.run.place import FIRST, Place, command_records
from wardian.sandbox.run.plan import Plan
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.records import record
from wardian.sandbox.run.status import interpret

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from wardian.sandbox.network.gateway import Gateway
    from wardian.sandbox.network.share import GatewayShare
    from wardian.sandbox.run.result import Result
    from wardian.sandbox.run.status import RunFacts


class LivingPlace:
    """One place, from its first command to ``close``."""

    def __init__(
        self,
        plan: Plan,
        policy: Policy,
        arch: str,
        extra: bytes,
        binary: str,
        gateway: Gateway | None = None,
    ) -> None:
        """Raises SandboxError if the launcher can't be started; what else is wrong, the first
        command reports."""
        self._plan, self._policy, self._arch = plan, policy, arch
        self._shared = {source.at: source for source in plan.sources}
        self._gateway = gateway
        data = plan.records + extra + record("parent", os.getpid()) + record("cwd", WORK)
        data += record("flag", "living")
        fds = {}
        if self._gateway is not None:
            end = self._gateway.launchers_end.fileno()
            fds[launcher.FD_GATEWAY] = launcher.raised(os.dup(end))
        try:
            launched = launcher.spawn_and_give(data, fds, {}, binary, living=True)
            self.place = Place(launched, policy.limits)
        except BaseException:
            if self._gateway is not None:
                self._gateway.close()
            raise
        if self._gateway is not None:
            self._gateway.start(self.place.pid)

    def check(self, program: str, more: Sequence[Source]) -> None:
        """Raises SandboxError for a program that lies in nothing that this place has."""
        for source in more:
            if not self.has([source]):
                raise SandboxError(
                    f"{program} is not in this sandbox, which was started without {source.path}",
                    hint="name it when the sandbox is made: wardian up --program PROGRAM, "
                    "Sandbox.create(programs=[…])",
                )

    def has(self, more: Sequence[Source]) -> bool:
        """Are all of these in it?"""
        return all(self._shared.get(source.at) == source for source in more)

    def stands(self) -> None:
        """Returns once its walls stand. Raises SandboxError for those that can't be put up."""
        os.close(self.place.directory("/"))

    def start(self, job: Job, argv: tuple[str, ...], env: dict[str, str]) -> Process:
        """Start a command. Raises SandboxError."""
        given, ends = pipes(job)
        return self.attend(job, self.launch(job, argv, env, given, ends), ends)

    def launch(
        self,
        job: Job,
        argv: tuple[str, ...],
        env: dict[str, str],
        given: Sequence[int | None],
        ends: dict[int, int],
    ) -> launcher.Launched:
        """Start a command on the streams that are given, which are closed here; if that fails, our
        ends of them as well. Raises SandboxError."""
        try:
            lines = self.place.start(
                command_records(argv, env, job.cwd or WORK),
                given,
                time_ms=0 if job.time_s is None else milliseconds(job.time_s),
                pty=job.pty is not None,
                size=job.pty or (0, 0),
                background=job.background,
            )
        except BaseException:
            _close([*given, *ends.values()])
            raise
        _close(given)
        return launcher.Launched(self.place.pid, *lines)

    def attend(self, job: Job, launched: launcher.Launched, ends: dict[int, int]) -> Process:
        """The handle of a command that was launched. Raises SandboxError."""
        living = Living(self.place, self._policy.limits.output_bytes, background=job.background)
        if job.pty is not None:
            self._take_terminal(living, launched.control, ends, launched.status)
        if job.given is not None:
            _close([ends.pop(i) for i in list(ends)])  # the caller takes the terminal itself
        return self._handle(job, living, launched, ends)

    def _take_terminal(
        self, living: Living, control: int, ends: dict[int, int], status: int
    ) -> None:
        try:
            ends[1] = living.take_terminal(control)
            ends[0] = os.dup(ends[1])
        except BaseException as error:
            os.set_blocking(status, False)
            try:
                said = os.read(status, 1 << 16)  # why, if the supervisor knows
            except BlockingIOError:
                said = b""
            _close([control, status, *ends.values()])
            raise (self.place.failure(said) if b'"failed"' in said else error) from None

    def _handle(
        self, job: Job, living: Living, launched: launcher.Launched, ends: dict[int, int]
    ) -> Process:
        facts: RunFacts = {
            "command": job.argv,
            "plan": _timed(self._plan, job.time_s),
            "arch": self._arch,
            "policy": self._policy,
            "gateway": self._share(),
        }
        outputs = {ends[i]: on for i, on in ((1, job.on_stdout), (2, job.on_stderr)) if i in ends}
        keeps_stdin = (job.stdin or job.pty is not None) and job.given is None
        process = Process(
            launched,
            functools.partial(_interpreted, self.place, facts),
            outputs=outputs,
            stdin=None if keeps_stdin else ends.get(0),
            input_bytes=job.input_bytes or b"",
            keep=job.keep,
            time_s=job.time_s,
            on_status=living.hear,
            child=SharedChild(self.place.child),
            living=living,
        )
        if keeps_stdin:
            from wardian.sandbox.run.interaction import Input

            process.input = Input(ends[0], terminal=job.pty is not None)
        return process

    def _share(self) -> GatewayShare | None:
        if self._gateway is None:
            return None
        from wardian.sandbox.network.share import GatewayShare

        return GatewayShare(self._gateway)

    def close(self) -> bool:
        """End everything in it; False if that can't be done."""
        ended = self.place.close()
        if self._gateway is not None:
            self._gateway.close()
        return ended


def _timed(plan: Plan, time_s: float | None) -> Plan:
    """With the time limit of one command, which may be less than the policy's."""
    if any(limit.name == "time" and limit.value != time_s for limit in plan.limits):
        limits = (one._replace(value=time_s) if one.name == "time" else one for one in plan.limits)
        return plan._replace(limits=tuple(limits))
    return plan


def _interpreted(
    place: Place, facts: RunFacts, said: bytes, stdout: bytes, stderr: bytes
) -> Result:
    """Where the supervisor said nothing of the command, it is the sandbox that ended, or never
    stood."""
    if b'"event":"ended"' not in said and b'"event":"failed"' not in said:
        if not place.child.gone(LAST_S):
            raise BackendError("the sandbox lost this command")
        raise place.failure(place.said())
    return interpret(said, stdout, stderr, **facts)


def pipes(job: Job) -> tuple[list[int | None], dict[int, int]]:
    """The guest's ends of its streams, and ours by number; with a terminal there are none."""
    given: list[int | None] = [None, None, None]
    ends: dict[int, int] = {}
    if job.given is not None:
        return [fd if fd is None else launcher.raised(os.dup(fd)) for fd in job.given], ends
    if job.pty is not None:
        return given, ends
    try:
        if job.stdin or job.input_bytes:
            given[0], ends[0] = launcher.pipe(FIRST)
        for i in (1, 2):
            ends[i], given[i] = launcher.pipe(FIRST)
    except OSError as error:
        _close([*given, *ends.values()])
        raise launcher.explained(error, launcher.LAUNCHER) from None
    return given, ends


def _close(fds: Sequence[int | None]) -> None:
    for fd in fds:
        if fd is not None:
            os.close(fd)
