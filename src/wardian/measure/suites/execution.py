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
    """The suite was asked to stop; this program has no result."""


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


class ProgramRuns:
    """The runs of one program in one target, counted."""

    def __init__(
        self,
        program: SuiteProgram,
        target: Target,
        options: RunOptions,
        running: Running,
        on_trace: OnBytes | None = None,
    ) -> None:
        self.program, self.target, self.options = program, target, options
        self._running, self._on_trace = running, on_trace
        self._policy = target.policy.with_shares(program.shares)
        self.count = 0

    def run(
        self,
        argv: Sequence[str],
        on_stdout: Callable[[bytes, float], None],
        on_stderr: OnBytes,
        moved_s: Callable[[], float] = lambda: 0.0,
        case_s: float | None = None,
    ) -> Execution:
        """``moved_s`` is when a case began or ended last, and each gets ``case_s`` from then on.
        Raises SandboxError, Stopped."""
        self.count += 1
        if self._running.stopped:
            raise Stopped
        start_s = self.options.timeout_s
        with self.target.make(self._policy, self.target.name) as sandbox:
            make_ready(sandbox, _mounted(self.program, self.target))
            began = time.monotonic()
            process = sandbox.start(
                _as_many_files(argv, self.target),
                env=_environment(self.program, self.target, self.options, sandbox),
                on_stdout=lambda data: on_stdout(data, time.monotonic() - began),
                on_stderr=on_stderr,
                on_trace=self._on_trace,
                trace_every=self._on_trace is not None,
            )
            self._running.add(process)
            try:
                late = _watched(process, began, moved_s, start_s, case_s or start_s)
                result = process.wait(END_S)
            except TimeoutError:
                raise SandboxError("a run that was ended did not end") from None
            finally:
                self._running.remove(process)
            seconds = time.monotonic() - began
            if self._running.stopped:
                raise Stopped
            return Execution(result, late, seconds, read_report(sandbox))


def _watched(
    process: Process, began: float, moved_s: Callable[[], float], start_s: float, case_s: float
) -> bool:
    """Wait for the end; True if a case took too long and the run was ended. A program may start
    slowly, whatever its cases get."""
    while True:
        moved = moved_s()
        left = began + moved + (case_s if moved else start_s) - time.monotonic()
        if left <= 0:
            process.kill()
            return True
        try:
            process.wait(min(left, case_s))  # it may move meanwhile
        except TimeoutError:
            continue
        return False


def _as_many_files(argv: Sequence[str], target: Target) -> Sequence[str]:
    """On the host as many descriptors as a sandbox gives, so that both run the same cases."""
    import resource

    wanted = target.policy.limits.files
    argv = [*target.prefix, *argv]
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
