"""What the launcher does for a guest, done by a thread for commands that other programs wall in:
streams relayed and counted, time and output limited, signals handed on, the whole tree ended.

A backend says how its guest is started, reached and ended: a ``Guest``. The thread that starts it
also waits for it, for the kernel ends a guest on a leash when the *thread* that started it ends.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from wardian.errors import BackendError, SandboxError, WardianError
from wardian.sandbox.backends import Job
from wardian.sandbox.backends.lanes import Lane, Streams
from wardian.sandbox.backends.tree import Tree
from wardian.sandbox.policy.policy import Policy
from wardian.sandbox.run import launcher
from wardian.sandbox.run.plan import Plan
from wardian.sandbox.run.process import KILL, Process, launched_in_thread
from wardian.sandbox.run.result import Limit, Protection, Result
from wardian.sandbox.run.status import interpret

LAST_BYTES_S = 0.2
SETUP_S = 30.0
UNKILLABLE_S = 20.0  # what was killed and is there still hangs in the kernel
NOT_HELD = "nothing: given up by name"


class End(NamedTuple):
    """How a guest ended by itself: with a code, by a signal, or without having been executed."""

    code: int = -1
    signal: int = 0
    exec_errno: int = 0

    @property
    def reason(self) -> str:
        """The launcher's word for it."""
        return "exec" if self.exec_errno else "signal" if self.signal else "exited"


class Guest(Protocol):
    """One command under way, as its backend knows it. Every call comes from the same thread."""

    pid: int  # our own child
    told: int  # a descriptor on which the backend's program tells of itself, or -1
    started: float | None  # when the command itself began
    watch: Tree | None  # looks at it from outside, once there is something to see

    def start(self, streams: Streams) -> None:
        """Start it. Raises SandboxError, and OSError for a command that can't be executed."""

    def on_told(self) -> bool:
        """``told`` is readable; False once it has ended."""

    def send(self, number: int) -> None:
        """Deliver a signal."""

    def kill(self) -> None:
        """End all of it. May be called again."""

    def ended(self, status: int | None) -> End:
        """Our child has ended, with that status if it can be known; end what is left. Raises
        SandboxError if the command was never run."""

    def close(self) -> None:
        """Let go of everything, also after a failed start."""


class Told(NamedTuple):
    """What a backend says of its runs, whatever becomes of them."""

    backend: str
    policy: Policy
    protections: tuple[Protection, ...]
    limits: tuple[Limit, ...]


def time_limit(job: Job, policy: Policy) -> float | None:
    """The nearer one of the call's and the policy's."""
    times = [t for t in (job.time_s, policy.limits.time_s) if t is not None]
    return min(times) if times else None


def held(job: Job, policy: Policy, *, cpu: str, memory: str, counted: bool) -> tuple[Limit, ...]:
    """The limits of a run, with what holds each; ``counted``: the wall limits.processes stands."""
    limits, looked_at = policy.limits, "supervisor"
    return (
        Limit("time", time_limit(job, policy), looked_at),
        Limit("cpu", limits.cpu_s, cpu),
        Limit("memory", limits.memory_bytes, memory),
        Limit("processes", limits.processes, "RLIMIT_NPROC" if counted else NOT_HELD),
        Limit("files", limits.files, "RLIMIT_NOFILE"),
        Limit("disk", limits.disk_bytes, "tmpfs size, RLIMIT_FSIZE, supervisor"),
        Limit("output", limits.output_bytes, looked_at),
    )


class Run:
    """A guest, its streams, and the thread that attends to them."""

    def __init__(
        self,
        job: Job,
        guest: Guest,
        streams: Callable[[], Streams],
        told: Told,
    ) -> None:
        self._job, self._guest, self._told = job, guest, told
        self._make_streams = streams
        limits = {limit.name: limit.value for limit in told.limits}
        self._time_s, self._output_bytes = limits["time"], limits["output"]
        self._reason: str | None = None
        self._struck_s = 0.0
        self._failure: WardianError | None = None
        self._begun = threading.Event()

    def start(self) -> Process:
        """Start it, and return its handle; what fails is told by the handle."""
        if threading.current_thread() is threading.main_thread():
            return launched_in_thread(self._launch)  # no exception of a signal's comes between
        return self._launch()

    def _launch(self) -> Process:
        opened: list[int] = []
        streams: Streams | None = None
        try:
            streams = self._streams = self._make_streams()
            status, self._status = launcher.pipe()
            opened += (status, self._status)
            self._control, control = launcher.pipe()
            opened += (self._control, control)
            name = f"wardian-{self._told.backend}"
            threading.Thread(target=self._attend, name=name, daemon=True).start()
        except (OSError, RuntimeError) as error:
            for fd in opened:
                os.close(fd)
            if streams is not None:
                streams.close()
            self._guest.close()
            raise BackendError(
                f"the run can't be attended to: {str(error).lower()}",
                hint="is a limit on threads or open files very low? see: ulimit -a",
            ) from None
        self._begun.wait()
        ends = self._streams.ends
        outputs = {
            ends[i]: on
            for i, on in ((1, self._job.on_stdout), (2, self._job.on_stderr))
            if i in ends
        }
        return Process(
            launcher.Launched(max(0, self._guest.pid), status, control),
            self._interpret,
            outputs=outputs,
            stdin=ends.get(0),
            input_bytes=self._job.input_bytes or b"",
            keep=self._job.keep,
            time_s=self._time_s,
            supervised=False,
        )

    def _interpret(self, status: bytes, stdout: bytes, stderr: bytes) -> Result:
        if self._failure is not None:
            raise self._failure
        told = self._told
        result = interpret(
            status,
            stdout,
            stderr,
            command=self._job.argv,
            plan=Plan(b"", told.protections, told.limits, {}),
            arch=os.uname().machine,
            policy=told.policy,
        )
        detail = result.detail
        if not any(wall.enforced for wall in told.protections):
            detail = detail.replace(" inside the sandbox", "")
        return result._replace(backend=told.backend, detail=detail)

    # In the thread

    def _attend(self) -> None:
        ended: dict[str, Any] = dict(_NOTHING)
        try:
            ended |= self._whole()
        except WardianError as error:
            self._failure = error
        except BaseException as error:
            self._failure = BackendError(f"the supervision failed: {error!r}")
        finally:
            self._tell_the_end(ended)

    def _tell_the_end(self, ended: dict[str, Any]) -> None:
        """Whatever fails on the way: someone waits for it."""
        try:
            self._let_go()
        except BaseException as error:
            self._failure = self._failure or BackendError(f"the cleaning up failed: {error!r}")
        try:
            ended |= {f"std{name}_bytes": self._count(i) for i, name in enumerate(_NAMES)}
            ended["output_exceeded"] = self._reason == "output"
            line = json.dumps(ended, separators=(",", ":"))
            os.write(self._status, line.encode() + b"\n")
        except OSError:
            pass  # nobody waits any more
        finally:
            os.close(self._status)

    def _whole(self) -> dict[str, Any]:
        """From start to end; the launcher's fields of what happened."""
        self._spawned = time.monotonic()
        self._own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            self._guest.start(self._streams)
        except OSError as error:
            return {"reason": "exec", "exec_errno": error.errno or errno.EIO}
        finally:
            self._streams.release()
            self._begun.set()
        status, usage = self._over_its_life()
        wall_s = time.monotonic() - (self._guest.started or self._spawned)
        self._drain()
        end = self._ended(status)
        self._let_out()
        return {
            "reason": self._reason or end.reason,
            "code": end.code,
            "signal": end.signal,
            "exec_errno": end.exec_errno,
            "wall_us": int(wall_s * 1e6),
        } | self._used(usage)

    def _ended(self, status: int | None) -> End:
        try:
            return self._guest.ended(status)
        except SandboxError:
            if self._reason is None:
                raise
            return End(signal=int(signal.SIGKILL))  # we ended it ourselves while it was starting

    def _used(self, usage: Any) -> dict[str, int]:
        user_us, system_us = (int(s * 1e6) for s in (usage.ru_utime, usage.ru_stime))
        # A child begins with its parent's size in its account, and keeps it over exec.
        peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > self._own_peak else 0
        tasks, watch = 1, self._guest.watch
        if watch is not None:
            user_us = max(user_us, watch.cpu_us - system_us)
            peak_bytes, tasks = max(peak_bytes, watch.peak_bytes), max(tasks, watch.tasks)
        return {
            "user_us": user_us,
            "system_us": system_us,
            "peak_bytes": peak_bytes,
            "tasks": tasks,
        }

    def _over_its_life(self) -> tuple[int | None, Any]:
        """Relay, listen and look until our child has ended: its status and what it used."""
        guest = self._guest
        try:
            self._pidfd, self._alive = os.pidfd_open(guest.pid), True
        except ProcessLookupError:  # SIGCHLD is ignored here, and it was quick
            return None, resource.struct_rusage([0.0] * 16)
        self._listening, self._hearing = True, guest.told >= 0
        self._look_at = self._spawned
        try:
            while self._alive:
                self._turn()
        finally:
            os.close(self._pidfd)
            guest.kill()  # what it left; until someone waits, its pid can be nobody else's
        if self._hearing:
            guest.on_told()  # what it said last
        try:
            _, status, usage = os.wait4(guest.pid, 0)
        except ChildProcessError:  # SIGCHLD is ignored here, or someone else waited
            return None, resource.struct_rusage([0.0] * 16)
        return os.waitstatus_to_exitcode(status), usage

    def _turn(self) -> None:
        lanes = dict(self._wanted(output=True))
        poll = select.poll()
        fixed = {self._pidfd: True, self._control: self._listening, self._guest.told: self._hearing}
        for fd in (fd for fd, wanted in fixed.items() if wanted):
            poll.register(fd, select.POLLIN)
        for fd, (_, events) in lanes.items():
            poll.register(fd, events)
        for fd, _ in poll.poll(self._timeout_ms()):
            if fd == self._pidfd:
                self._alive = False
            elif fd == self._control:
                self._listening = self._on_control()
            elif fd == self._guest.told:
                self._hearing = self._guest.on_told()
            else:
                self._step(lanes[fd][0])
        if self._alive:
            self._check_limits()

    def _timeout_ms(self) -> int | None:
        ends = [] if self._guest.watch is None else [self._look_at]
        if self._reason is None:
            if self._time_s is not None:
                ends.append((self._guest.started or self._spawned) + self._time_s)
            if self._guest.started is None:
                ends.append(self._spawned + SETUP_S)
        else:
            ends.append(time.monotonic() + 1.0)
        if not ends:
            return None
        return max(0, int((min(ends) - time.monotonic()) * 1000) + 1)

    def _check_limits(self) -> None:
        now, started = time.monotonic(), self._guest.started
        if self._time_s is not None and now - (started or self._spawned) >= self._time_s:
            self._strike("time")
        elif started is None and now - self._spawned >= SETUP_S:
            self._strike("setup")
        elif self._reason is not None:
            if now - self._struck_s >= UNKILLABLE_S:
                raise BackendError(
                    "the run was ended, but a process of it hangs in the kernel and is still there",
                    hint="does a file system that it uses not answer?",
                )
            self._guest.kill()
        elif self._guest.watch is not None and now >= self._look_at:
            self._strike(self._guest.watch.look())
            self._look_at = time.monotonic() + self._guest.watch.next_s

    def _strike(self, reason: str | None) -> None:
        if reason is not None:
            if self._reason is None:
                self._struck_s = time.monotonic()
            self._reason = self._reason or reason
            self._guest.kill()

    def _on_control(self) -> bool:
        commands = os.read(self._control, 64)
        if not commands:
            self._strike("caller")  # nobody has a handle on it any more
        for byte in commands:
            if byte == KILL:
                self._strike("killed")
            elif byte == signal.SIGWINCH and self._streams.terminal is not None:
                self._streams.terminal.resize()
            else:
                self._guest.send(byte)
        return bool(commands)

    # Streams

    def _wanted(self, *, output: bool) -> Iterator[tuple[int, tuple[Lane, int]]]:
        for lane in self._streams.lanes:
            wanted = lane.wanted if output or lane.stream else None
            if wanted is not None:
                yield wanted[0], (lane, wanted[1])

    def _step(self, lane: Lane) -> None:
        if lane.step(self._allowed(lane)):
            self._strike("output")

    def _allowed(self, lane: Lane) -> int | None:
        if not lane.stream or self._output_bytes is None:
            return None
        return int(self._output_bytes) - sum(one.count for one in self._streams.lanes if one.stream)

    def _let_out(self) -> None:
        """What was held back turned out to be the command's own."""
        for lane in self._streams.lanes:
            if lane.held and lane.let_out(self._allowed(lane)):
                self._reason = self._reason or "output"
        self._drain()

    def _drain(self) -> None:
        """What the guest wrote last. A stray process that holds a pipe is not waited for; what has
        been read is delivered, however slow its reader is."""
        deadline = time.monotonic() + LAST_BYTES_S
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or self._reason == "output":
                for lane in self._streams.lanes:
                    lane.reading = False
            wanted = dict(self._wanted(output=False))
            if not wanted:
                return
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            for fd, (_, events) in wanted.items():
                poll.register(fd, events)
            for fd, _ in poll.poll(max(0, int(left * 1000) + 1) if left > 0 else None):
                if fd != self._control:
                    self._step(wanted[fd][0])
                elif os.read(fd, 64)[-1:] in (b"", bytes([KILL])):
                    return  # whoever would read it wants no more

    def _count(self, stream: int) -> int:
        return sum(lane.count for lane in self._streams.lanes if lane.stream == stream)

    def _let_go(self) -> None:
        self._begun.set()
        for lane in self._streams.lanes:
            lane.close()
        if self._streams.terminal is not None:
            self._streams.terminal.close()
        os.close(self._control)
        self._guest.close()


_NAMES = ("in", "out", "err")
_NOTHING = {
    "event": "ended",
    "reason": "exec",
    "code": -1,
    "signal": 0,
    "exec_errno": 0,
} | dict.fromkeys(("wall_us", "user_us", "system_us", "peak_bytes", "tasks"), 0)
