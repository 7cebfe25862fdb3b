"""One execution of a test program in a target: set up, watched, ended in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import SandboxError
from wardian.measure.suites import gtest, lines
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.selection import Selection
from wardian.measure.suites.work import SCRATCH, make_ready, read_report
from wardian.measure.target import Target
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run.process import Process
from wardian.sandbox.run.result import Result
from wardian.sandbox.run.traffic import OnBytes
from wardian.sandbox.sandbox import Sandbox

END_S = 30.0


class RunOptions(NamedTuple):
    """How cases are run: which, for how long at most each, whether each by itself, and with which
    variables besides."""

    selection: Selection = Selection()
    timeout_s: float = 60.0
    isolate: bool = False
    env: tuple[tuple[str, str], ...] = ()


class Stopped(Exception):  # noqa: N818 - it is no error: someone asked for it
    """The suite was told to stop; this program has no result."""


class Running:
    """The runs under way, so that all of them can be ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[Process] = set()
        self.stopped = False

    def add(self, process: Process) -> None:
        with self._lock:
            self._processes.add(process)
        if self.stopped:
            process.kill()

    def remove(self, process: Process) -> None:
        with self._lock:
            self._processes.discard(process)

    def stop(self) -> None:
        """End them all, and let none begin."""
        self.stopped = True
        with self._lock:
            for process in self._processes:
                process.kill()


class Execution(NamedTuple):
    """A run that has ended; ``late`` if it was us who ended it."""

    result: Result
    late: bool
    seconds: float
    report: dict[str, gtest.Reported]

    @property
    def end(self) -> lines.ProgramEnd:
        limit = self.result.reason if self.result.reason.endswith(" limit") else ""
        return lines.ProgramEnd(self.result.exit_code, self.result.signal, limit)

    @property
    def died(self) -> bool:
        """It did not come to its own end."""
        return self.late or bool(self.end.signal or self.end.reason)

    @property
    def not_started(self) -> str:
        """Why it could not be started there; empty if it was."""
        if self.result.reason not in ("not found", "not executable"):
            return ""
        return f"it can't be started there: {self.result.detail or self.result.reason}"


class Clock(NamedTuple):
    """How long a run may go on: from its start, and from when something last moved."""

    start_s: float
    case_s: float
    moved_s: Callable[[], float] = lambda: 0.0

    def left_s(self, elapsed_s: float) -> float:
        """What is left; a program may start slowly, whatever its cases get."""
        moved = self.moved_s()
        return moved + (self.case_s if moved else self.start_s) - elapsed_s


def execute(
    program: SuiteProgram,
    target: Target,
    options: RunOptions,
    running: Running,
    argv: Sequence[str],
    clock: Clock,
    on_stdout: Callable[[bytes, float], None],
    on_stderr: OnBytes,
    on_trace: OnBytes | None = None,
) -> Execution:
    """Raises SandboxError, Stopped."""
    if running.stopped:
        raise Stopped
    policy = target.policy.with_shares(program.shares)
    with target.make(policy, target.name) as sandbox:
        make_ready(sandbox, _mounted(program, target))
        began = time.monotonic()
        process = sandbox.start(
            _as_many_files(argv, target),
            env=_environment(program, target, options, sandbox),
            on_stdout=lambda data: on_stdout(data, time.monotonic() - began),
            on_stderr=on_stderr,
            on_trace=on_trace,
            trace_every=on_trace is not None,
        )
        running.add(process)
        try:
            late = _watched(process, began, clock)
            result = process.wait(END_S)
        except TimeoutError:
            raise SandboxError("a run that was ended did not end") from None
        finally:
            running.remove(process)
        seconds = time.monotonic() - began
        if running.stopped:
            raise Stopped
        return Execution(result, late, seconds, read_report(sandbox))


def _watched(process: Process, began: float, clock: Clock) -> bool:
    """Wait for the end; True if a case took too long and the run was ended."""
    while True:
        left = clock.left_s(time.monotonic() - began)
        if left <= 0:
            process.kill()
            return True
        try:
            process.wait(min(left, clock.case_s))  # it may move meanwhile
        except TimeoutError:
            continue
        return False


def _as_many_files(argv: Sequence[str], target: Target) -> Sequence[str]:
    """On the host as many descriptors as a sandbox gives, so that both run the same cases."""
    import resource

    wanted = target.policy.limits.files
    if not target.is_host or wanted is None:
        return argv
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    return ["/bin/sh", "-c", f'ulimit -S -n {files}; exec "$0" "$@"', *argv]


def _mounted(program: SuiteProgram, target: Target) -> tuple[Share, ...]:
    """The shares for which the sandbox's own work directory needs mount points: none on the host,
    which mounts nothing, nor where the policy names the work directory."""
    private = not target.is_host and target.policy.work is None
    return program.shares if private else ()


def _environment(
    program: SuiteProgram, target: Target, options: RunOptions, sandbox: Sandbox
) -> Mapping[str, str]:
    """As Bazel's test encyclopedia has it, which googletest and gVisor's tests go by."""
    work = sandbox.work_path if target.is_host else WORK
    own = {"TEST_TMPDIR": f"{work}/{SCRATCH}", "LC_ALL": "C.UTF-8"}
    if target.is_host:
        own["HOME"] = work
    if program.runfiles:
        own |= {"TEST_SRCDIR": program.runfiles, "RUNFILES_DIR": program.runfiles}
    return own | dict(options.env)
