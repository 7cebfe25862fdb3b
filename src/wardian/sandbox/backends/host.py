"""The backend ``host``: no sandbox at all, the oracle that says how a command behaves without.

It keeps to the protocol of the others: same jobs, same results, time and output limits, and no
process of the command's own group left behind. It protects from nothing, and its results say so.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import select
import signal
import subprocess
import threading
import time
from typing import Any

from wardian.errors import BackendError, ShareError
from wardian.sandbox import launcher
from wardian.sandbox.backends import Job
from wardian.sandbox.layout import WORK
from wardian.sandbox.plan import ALWAYS, DEGRADABLE, Plan
from wardian.sandbox.policy import Policy
from wardian.sandbox.process import KILL, READ_SIZE, Process
from wardian.sandbox.result import Limit, Protection, Result
from wardian.sandbox.shares import is_below
from wardian.sandbox.status import interpret

# The host's own, as a command started by hand would find them.
ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR")
LAST_BYTES_S = 0.2
NOTE = "backend host puts up no walls"


class HostBackend:
    """Starts commands as they are."""

    name = "host"

    def prepare(self, policy: Policy, *, own_work: str | None = None) -> None:
        """Raises ShareError if the work directory is not one."""
        self._policy, self._work = policy, policy.work or own_work
        if self._work is not None and not os.path.isdir(self._work):
            raise ShareError(self._work, "it is not a directory")

    def start(self, job: Job) -> Process:
        """Start the job; a command that can't be executed is a result, as elsewhere."""
        run = _Run(job, self._policy, self._work)
        limits = self._policy.limits
        plan = Plan(
            records=b"",
            protections=tuple(_absent(name) for name in _wall_names()),
            limits=(
                Limit("time", run.time_s, "host backend"),
                Limit("output", limits.output_bytes if run.relays else None, "host backend"),
            ),
            environment={},
        )
        return run.start(functools.partial(_interpret, job=job, plan=plan, policy=self._policy))


def _wall_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ALWAYS, "namespace.network", *DEGRADABLE)))


def _absent(name: str) -> Protection:
    return Protection(name, requested=True, available=False, enforced=False, note=NOTE)


def _interpret(
    status: bytes, stdout: bytes, stderr: bytes, *, job: Job, plan: Plan, policy: Policy
) -> Result:
    result = interpret(
        status,
        stdout,
        stderr,
        command=job.argv,
        plan=plan,
        arch=os.uname().machine,
        policy=policy,
    )
    detail = result.detail.replace(" inside the sandbox", "")
    return result._replace(backend="host", detail=detail)


class _Run:
    """One command and the thread that does for it what the launcher does for a guest."""

    def __init__(self, job: Job, policy: Policy, work: str | None) -> None:
        self.job, self.policy, self.work = job, policy, work
        limits = [t for t in (job.time_s, policy.limits.time_s) if t is not None]
        self.time_s = min(limits) if limits else None
        # descriptor we read from the command → (descriptor we write to, stream number)
        self.relays: dict[int, tuple[int, int]] = {}
        self.counted = {1: 0, 2: 0}
        self.reason: str | None = None
        self.private: str | None = None
        self.exec_errno = 0

    def start(self, interpretation: Any) -> Process:
        """Raises BackendError."""
        status, self.status = launcher.pipe()
        self.control, control = launcher.pipe()
        ends, theirs = self._streams()
        self.child: subprocess.Popen[bytes] | None = None
        try:
            self.child = self._spawn(theirs)
        except OSError as error:
            self.exec_errno = self._told(error.errno or errno.EIO)
            if error.filename is not None and error.filename == self._cwd():
                relays = (fd for source, (sink, _) in self.relays.items() for fd in (source, sink))
                for fd in (status, self.status, self.control, control, *ends.values(), *relays):
                    os.close(fd)
                raise BackendError(
                    f"the working directory can't be used: {error.filename}: {error.strerror}"
                ) from None
        finally:
            for fd in theirs.values():
                os.close(fd)
        self.started = time.monotonic()
        outputs = {
            ends[i]: on for i, on in ((1, self.job.on_stdout), (2, self.job.on_stderr)) if i in ends
        }
        process = Process(
            launcher.Launched(self.child.pid if self.child else 0, status, control),
            interpretation,
            outputs=outputs,
            stdin=ends.get(0),
            input_bytes=self.job.input_bytes or b"",
        )
        threading.Thread(target=self._attend, name="wardian-host", daemon=True).start()
        return process

    def _told(self, number: int) -> int:
        """A directory of PATH that is closed to us does not make a missing program forbidden."""
        import shutil

        name = self.job.argv[0]
        missing = number == errno.EACCES and "/" not in name and shutil.which(name) is None
        return errno.ENOENT if missing else number

    def _streams(self) -> tuple[dict[int, int], dict[int, int]]:
        """Our caller's ends by stream number, and the command's."""
        if self.job.inherit:
            return {}, {}
        ends, theirs = {}, {}
        if self.job.input_bytes:
            theirs[0], ends[0] = launcher.pipe()
        for i in (1, 2):
            ends[i], relay_out = launcher.pipe()
            relay_in, theirs[i] = launcher.pipe()
            self.relays[relay_in] = (relay_out, i)
        return ends, theirs

    def _cwd(self) -> str:
        work = self.work or self._private_work()
        wanted = os.path.join(WORK, self.job.cwd or "")
        if is_below(wanted, WORK):
            return os.path.normpath(work + wanted[len(WORK) :])
        return wanted

    def _private_work(self) -> str:
        if self.private is None:
            import tempfile

            self.private = tempfile.mkdtemp(prefix="wardian-host-")
        return self.private

    def _spawn(self, theirs: dict[int, int]) -> subprocess.Popen[bytes]:
        env = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        env |= self.policy.environment(os.environ) | dict(self.job.env)
        nothing = None if self.job.inherit else subprocess.DEVNULL
        return subprocess.Popen(
            self.job.argv,
            stdin=theirs.get(0, nothing),
            stdout=theirs.get(1),
            stderr=theirs.get(2),
            cwd=self._cwd(),
            env=env,
            start_new_session=not self.job.inherit,
        )

    # In the thread

    def _attend(self) -> None:
        ended: dict[str, Any] = {"event": "ended", "exec_errno": 0}
        try:
            if self.child is None:
                ended |= {"reason": "exec", "exec_errno": self.exec_errno} | _NOTHING_USED
            else:
                ended |= self._watched(self.child)
        finally:
            ended |= {f"std{name}_bytes": n for name, n in self._counts()}
            ended["output_exceeded"] = self.reason == "output"
            for source, (sink, _) in self.relays.items():
                os.close(source)
                os.close(sink)
            if self.private is not None:
                import shutil

                shutil.rmtree(self.private, ignore_errors=True)
            os.close(self.control)
            line = json.dumps(ended, separators=(",", ":"))
            os.write(self.status, line.encode() + b"\n")
            os.close(self.status)

    def _counts(self) -> list[tuple[str, int]]:
        return [("in", 0), ("out", self.counted[1]), ("err", self.counted[2])]

    def _watched(self, child: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Relay and wait until the command's end; its own group ends with it."""
        pidfd = os.pidfd_open(child.pid)
        self.open = set(self.relays)
        poll = select.poll()
        for fd in (pidfd, self.control, *self.relays):
            poll.register(fd, select.POLLIN)
        alive = True
        while alive:
            for fd, _ in poll.poll(self._timeout_ms()):
                if fd == pidfd:
                    alive = False
                elif fd == self.control:
                    if not self._on_control(child.pid):
                        poll.unregister(fd)
                elif not self._relay(fd):
                    poll.unregister(fd)
                    self.open.discard(fd)
            if self.time_s is not None and time.monotonic() - self.started >= self.time_s:
                self._end(child.pid, "time")
            elif self.reason == "output":
                self._kill_group(child.pid)
        wall_s = time.monotonic() - self.started
        poll.unregister(pidfd)
        os.close(pidfd)
        self._kill_group(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self._drain(poll)
        code = child.returncode
        reason = self.reason or ("exited" if code >= 0 else "signal")
        return {
            "reason": reason,
            "code": max(code, -1),
            "signal": max(-code, 0),
            "wall_us": int(wall_s * 1e6),
            "user_us": int(usage.ru_utime * 1e6),
            "system_us": int(usage.ru_stime * 1e6),
            "peak_bytes": usage.ru_maxrss * 1024,
            "tasks": 1,
        }

    def _timeout_ms(self) -> int | None:
        if self.time_s is None or self.reason is not None:
            return None
        left = self.started + self.time_s - time.monotonic()
        return max(0, int(left * 1000) + 1)

    def _on_control(self, pid: int) -> bool:
        commands = os.read(self.control, 64)
        for byte in commands:
            if byte == KILL:
                self._end(pid, "killed")
            else:
                os.kill(pid, byte)
        return bool(commands)

    def _relay(self, source: int) -> bool:
        """Hand on what is there; False at the end of the stream, or when nobody reads it."""
        sink, stream = self.relays[source]
        data = os.read(source, READ_SIZE)
        most, so_far = self.policy.limits.output_bytes, sum(self.counted.values())
        if most is not None and so_far + len(data) > most:
            self.reason = self.reason or "output"
            data = data[: most - so_far]
        self.counted[stream] += len(data)
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(sink, left) :]
        except BrokenPipeError:
            return False
        return bool(data)

    def _drain(self, poll: select.poll) -> None:
        """What the command wrote last; a stray child that holds the pipe is not waited for."""
        deadline = time.monotonic() + LAST_BYTES_S
        while self.open and time.monotonic() < deadline:
            for fd, _ in poll.poll(LAST_BYTES_S * 1000):
                if fd not in self.open or not self._relay(fd):
                    poll.unregister(fd)
                    self.open.discard(fd)

    def _end(self, pid: int, reason: str) -> None:
        self.reason = self.reason or reason
        self._kill_group(pid)

    def _kill_group(self, pid: int) -> None:
        try:
            if self.job.inherit:
                os.kill(pid, signal.SIGKILL)
            else:
                os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


_NOTHING_USED = {"code": -1, "signal": 0} | dict.fromkeys(
    ("wall_us", "user_us", "system_us", "peak_bytes", "tasks"), 0
)
