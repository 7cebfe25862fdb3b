"""One program in one sandbox: its cases listed, run, and run on after a crash or a hang.

Every case that was listed gets an outcome. What ends the program costs the case that ran, not
those after it; what ends it again and again before any case has begun is given up, and told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import SandboxError, WardianError
from wardian.measure.suites import gtest, lines
from wardian.measure.suites.outcomes import MAX_REFUSALS, PROGRAM_CASE, Outcome
from wardian.measure.suites.programs import Program
from wardian.measure.suites.selection import Selection
from wardian.measure.suites.work import REPORT, SCRATCH, make_ready, read_report
from wardian.measure.target import WARDIAN, Target
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.refusals.reading import UNKNOWN, is_routine
from wardian.sandbox.root.layout import WORK
from wardian.sandbox.run.process import OnBytes, Process
from wardian.sandbox.run.result import Refusal, Result
from wardian.sandbox.sandbox import Sandbox

KEEP_BYTES = 16 << 10
KEEP_BYTES_PASSED = 2 << 10
FRUITLESS_RUNS = 3  # in a row, that ended before any case began
TIMEOUTS_IN_A_ROW = 32
PATIENT_TIMEOUTS = 2  # in a row, after which a case gets a part of its time only
IMPATIENCE = 4
END_S = 30.0

OnCase = Callable[[str, str], None]


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


class Ran(NamedTuple):
    """A run that has ended; ``late`` if it was us who ended it."""

    result: Result
    late: bool
    seconds: float
    report: dict[str, gtest.Reported]

    @property
    def end(self) -> lines.End:
        limit = self.result.reason if self.result.reason.endswith(" limit") else ""
        return lines.End(self.result.exit_code, self.result.signal, limit)


class Counted(NamedTuple):
    """The outcomes of a program, the protocol that it turned out to speak, and its runs."""

    outcomes: tuple[Outcome, ...]
    protocol: str
    runs: int


def run_program(
    program: Program, target: Target, options: RunOptions, running: Running, on_case: OnCase
) -> Counted:
    """Never raises for what the program does, nor for a sandbox that can't be had; raises Stopped.
    ``on_case`` hears of each case and its status, as far as they can be told while they run."""
    runs = _Runs(program, target, options, running, on_case)
    try:
        if program.protocol == "gtest":
            return Counted(tuple(runs.cases()), "gtest", runs.count)
        outcomes, protocol = runs.whole()
        return Counted(tuple(outcomes), protocol, runs.count)
    except (WardianError, OSError) as error:
        hint = getattr(error, "hint", None)
        why = f"the sandbox could not be set up: {error}" + (f" ({hint})" if hint else "")
        outcome = Outcome(PROGRAM_CASE, "not_run", detail=why[:500])
        return Counted((outcome,), program.protocol or "exit", runs.count)


def run_alone(
    program: Program,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    *,
    explain: bool = True,
) -> Outcome | None:
    """One case of a program in a sandbox of its own; None if that could not be had. To explain it,
    if it does not pass and nothing was seen to be refused, it is run once more and traced."""
    outcome = _alone(program, case, target, options, running, traced=False)
    if outcome is None or outcome.status == "passed" or outcome.refusals:
        return outcome
    if target.name != WARDIAN or not explain:
        return outcome
    again = _alone(program, case, target, options, running, traced=True)
    return outcome if again is None else outcome._replace(refusals=again.refusals)


def _alone(
    program: Program,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    *,
    traced: bool,
) -> Outcome | None:
    runs = _Runs(program, target, options, running, lambda case, status: None, traced=traced)
    try:
        if program.protocol != "gtest":
            return next((one for one in runs.whole()[0] if one.case == case), None)
        suite = case.partition(".")[0]
        runs.run_cases([case], [case, f"{suite}.(others)"])  # so that the suite is not named whole
        outcome = runs.outcomes.get(case)
        return outcome._replace(refusals=runs.refusals) if outcome is not None else None
    except (WardianError, OSError):
        return None


class _Runs:
    """All runs of one program in one sandbox."""

    def __init__(
        self,
        program: Program,
        target: Target,
        options: RunOptions,
        running: Running,
        on_case: OnCase,
        *,
        traced: bool = False,
    ) -> None:
        self.program, self.target, self.options = program, target, options
        self.on_trace: OnBytes | None = (lambda data: None) if traced else None
        self.running, self.on_case = running, on_case
        self.timeout_s = options.timeout_s  # for a case; less, once several have hung
        self.count = 0
        self.outcomes: dict[str, Outcome] = {}
        self.refusals: tuple[Refusal, ...] = ()  # of the last run, whichever case it was
        self.policy = target.policy.with_shares(program.shares)

    # Programs of many cases

    def cases(self) -> Iterable[Outcome]:
        """Each case that is listed and wanted, in the order of the list."""
        ran, printed, errors = self._listing()
        listed = gtest.parse_list(printed)
        if not listed or ran.late or ran.result.exit_code != 0:
            if not self.options.selection.wants(self.program.name, PROGRAM_CASE) and not listed:
                return []
            return [self._unlisted(ran, printed + errors)]
        wanted = [
            one for one in listed if self.options.selection.wants(self.program.name, one.name)
        ]
        enabled = [one.name for one in wanted if not one.disabled]
        every = [one.name for one in listed if not one.disabled]
        if self.options.isolate:
            for name in enabled:
                self.run_cases([name], every)
        else:
            self.run_cases(enabled, every)
        for one in wanted:
            if one.disabled:
                self.outcomes[one.name] = Outcome(one.name, "disabled")
            elif one.name not in self.outcomes:
                self.outcomes[one.name] = Outcome(one.name, "not_run", detail="it never ran")
        parameters = {one.name: one.parameter for one in wanted}
        own = [self.outcomes.pop(name)._replace(parameter=parameters[name]) for name in parameters]
        return [*own, *self.outcomes.values()]

    def _listing(self) -> tuple[Ran, bytes, bytes]:
        """The run, and what it wrote to standard output and to standard error."""
        pieces: list[bytes] = []
        errors: list[bytes] = []
        ran = self._run(
            [self.program.path, "--gtest_list_tests"],
            lambda data, at_s: pieces.append(data),
            errors.append,
            lambda: 0.0,
        )
        return ran, b"".join(pieces), b"".join(errors)

    def _unlisted(self, ran: Ran, printed: bytes) -> Outcome:
        said = _text(printed)
        if ran.late:
            told = f"it did not list its cases within {self.options.timeout_s:g} s"
        elif ran.result.reason in ("not found", "not executable"):
            told = f"it can't be started there: {ran.result.detail or ran.result.reason}"
        elif ran.result.exit_code == 0:
            told = "it lists no case"
        else:
            told = f"it {ran.end.told} when it was to list its cases"
        status = "timeout" if ran.late else "crashed" if ran.result.exit_code else "failed"
        refusals = _refused(ran.result.refusals)
        seconds = ran.seconds
        return Outcome(PROGRAM_CASE, status, seconds, told, said[-KEEP_BYTES:], refusals)

    def run_cases(self, wanted: Sequence[str], every: Sequence[str]) -> None:
        """Run them, in as many runs as it takes."""
        left = list(wanted)
        fruitless = timeouts = 0
        while left:
            pattern, chosen = gtest.filters(left, every)[0]
            whole = len(chosen) == len(every)
            patience = 1 if timeouts < PATIENT_TIMEOUTS else IMPATIENCE
            self.timeout_s = self.options.timeout_s / patience
            done, began, late = self._one_run(None if whole else pattern, chosen)
            left = [name for name in left if name not in done]
            fruitless = 0 if began else fruitless + 1
            timeouts = timeouts + 1 if late else 0
            if left and (fruitless >= FRUITLESS_RUNS or timeouts >= TIMEOUTS_IN_A_ROW):
                what = "ended before a case began" if fruitless else "hung"
                times = fruitless or timeouts
                self._give_up(left, f"given up: the program {what} {times} times in a row", done)
                return

    def _give_up(self, names: Iterable[str], why: str, after: Iterable[str]) -> None:
        """What was refused when it was given up is the best that is known of the rest."""
        refusals = tuple(dict.fromkeys(r for one in after for r in self.outcomes[one].refusals))
        for name in names:
            self._note(Outcome(name, "not_run", detail=why, refusals=refusals[:MAX_REFUSALS]))

    def _one_run(self, pattern: str | None, chosen: Sequence[str]) -> tuple[set[str], bool, bool]:
        """The cases that are done with, whether any began, and whether it had to be ended."""
        stream = gtest.Stream(set(chosen), keep_bytes=KEEP_BYTES)
        told: set[str] = set()

        def on_stdout(data: bytes, at_s: float) -> None:
            stream.feed(data, at_s)
            for name in [name for name in stream.ended if name not in told]:
                told.add(name)
                self.on_case(name, stream.ended[name].status)

        argv = [self.program.path, "--gtest_color=no", f"--gtest_output=json:{REPORT}"]
        if pattern is not None:
            argv.append(f"--gtest_filter={pattern}")
        ran = self._run(argv, on_stdout, stream.feed_error, lambda: stream.moved_s)
        stream.close(ran.seconds)
        began = bool(stream.ended) or stream.current is not None or bool(ran.report)
        return self._account(stream, ran, chosen, told), began, ran.late

    def _account(
        self, stream: gtest.Stream, ran: Ran, chosen: Sequence[str], told: set[str]
    ) -> set[str]:
        refusals = _Timed(ran)
        self.refusals = _refused(ran.result.refusals, routine=True)
        found: dict[str, Outcome] = {}
        for name, ended in stream.ended.items():
            found[name] = _ended(name, ended, refusals)
        for name, reported in ran.report.items():
            if name in chosen and name not in found:
                found[name] = _reported(name, reported)
        for suite, said in stream.suites_failed.items():
            _spread_suite_failure(suite, found, _text(said.bytes))
        left = [name for name in chosen if name not in found]
        if left:
            name = stream.current if stream.current in left else left[0]
            found[name] = self._charged(name, stream, ran, refusals)
        elif ran.late or ran.end.signal or ran.end.reason or _odd_exit(ran, found):
            self._note(self._after_all(stream, ran), quiet=True)
        for name, outcome in found.items():
            self._note(outcome, quiet=name in told)
        return set(found)

    def _charged(self, name: str, stream: gtest.Stream, ran: Ran, refusals: _Timed) -> Outcome:
        """The case that ran when the program ended, or that would have been the next."""
        running = name == stream.current
        output = stream.running_output if running else stream.outside.bytes
        began_s = stream.began_s if running else stream.moved_s
        seconds = max(0.0, ran.seconds - began_s)
        if ran.late:
            patience_s = self.timeout_s if began_s else self.options.timeout_s
            status, detail = "timeout", f"it did not end within {patience_s:g} s"
        else:
            status, detail = "crashed", f"the program {ran.end.told}"
        if not running:
            detail += ", before it began"
        seen = refusals.between(stream.after_s, ran.seconds, limits=bool(ran.end.reason))
        return Outcome(name, status, seconds, detail, _text(output), seen)

    def _after_all(self, stream: gtest.Stream, ran: Ran) -> Outcome:
        status = "timeout" if ran.late else "crashed" if ran.end.signal else "failed"
        detail = f"after its last case it {ran.end.told}"
        if ran.late:
            detail = f"it did not end within {self.timeout_s:g} s after its last case"
        return Outcome(PROGRAM_CASE, status, 0.0, detail, _text(stream.outside.bytes))

    def _note(self, outcome: Outcome, *, quiet: bool = False) -> None:
        kept = KEEP_BYTES_PASSED if outcome.status in ("passed", "skipped") else KEEP_BYTES
        if len(outcome.output) > kept:
            outcome = outcome._replace(output=outcome.output[-kept:])
        if not outcome.detail and outcome.status in ("failed", "skipped"):
            outcome = outcome._replace(detail=gtest.first_line(outcome.output))
        self.outcomes[outcome.case] = outcome
        if not quiet:
            self.on_case(outcome.case, outcome.status)

    # Programs that are one test, or tell their own points

    def whole(self) -> tuple[list[Outcome], str]:
        """The outcomes, and which protocol it was."""
        if not self.options.selection.wants(self.program.name, PROGRAM_CASE):
            return [], self.program.protocol or "exit"
        printed, error = gtest.Excerpt(8 << 20), gtest.Excerpt(KEEP_BYTES)
        ran = self._run(
            [self.program.path],
            lambda data, at_s: printed.add(data),
            error.add,
            lambda: 0.0,
        )
        text, end = _text(printed.bytes), ran.end
        tap = self.program.protocol == "tap" or (not self.program.protocol and lines.is_tap(text))
        refused = _refused(ran.result.refusals)
        said = (text[-KEEP_BYTES:] + _text(error.bytes))[-KEEP_BYTES:]
        if ran.result.reason in ("not found", "not executable"):
            told = f"it can't be started there: {ran.result.detail or ran.result.reason}"
            points = [lines.Point(PROGRAM_CASE, "crashed", told, said)]
        elif ran.late:
            told = f"it did not end within {self.options.timeout_s:g} s"
            points = lines.parse_tap(text)[0] if tap else []
            points.append(lines.Point(PROGRAM_CASE, "timeout", told, said))
        elif tap:
            points = lines.judge_tap(text, end)
        else:
            points = [lines.Point(PROGRAM_CASE, *lines.judge_exit(end), said)]
        outcomes = [
            Outcome(
                one.case, one.status, ran.seconds if one.case == PROGRAM_CASE else 0.0,
                one.detail, (one.output or said)[-KEEP_BYTES:] if one.status != "passed" else "",
                refused if one.status != "passed" else (),
            )
            for one in points
        ]  # fmt: skip
        for one in outcomes:
            self.on_case(one.case, one.status)
        return outcomes, "tap" if tap else "exit"

    # One run

    def _run(
        self,
        argv: Sequence[str],
        on_stdout: Callable[[bytes, float], None],
        on_stderr: OnBytes,
        moved_s: Callable[[], float],
    ) -> Ran:
        """Raises SandboxError, Stopped."""
        self.count += 1
        if self.running.stopped:
            raise Stopped
        with self.target.make(self.policy, self.target.name) as sandbox:
            make_ready(sandbox, self._mounted())
            began = time.monotonic()
            process = sandbox.start(
                argv,
                env=self._environment(sandbox),
                on_stdout=lambda data: on_stdout(data, time.monotonic() - began),
                on_stderr=on_stderr,
                on_trace=self.on_trace,
            )
            self.running.add(process)
            try:
                late = self._watched(process, began, moved_s)
                result = process.wait(END_S)
            except TimeoutError:
                raise SandboxError("a run that was ended did not end") from None
            finally:
                self.running.remove(process)
            seconds = time.monotonic() - began
            if self.running.stopped:
                raise Stopped
            return Ran(result, late, seconds, read_report(sandbox))

    def _watched(self, process: Process, began: float, moved_s: Callable[[], float]) -> bool:
        """Wait for the end; True if a case took too long and the run was ended."""
        while True:
            patience_s = (
                self.timeout_s if moved_s() else self.options.timeout_s
            )  # it may start slowly
            left = began + moved_s() + patience_s - time.monotonic()
            if left <= 0:
                process.kill()
                return True
            try:
                process.wait(left)
            except TimeoutError:
                continue
            return False

    def _mounted(self) -> tuple[Share, ...]:
        """The shares for which the sandbox's own work directory needs mount points: none on the
        host, which mounts nothing, nor where the policy names the work directory."""
        private = not self.target.is_host and self.target.policy.work is None
        return self.program.shares if private else ()

    def _environment(self, sandbox: Sandbox) -> Mapping[str, str]:
        """As Bazel's test encyclopedia has it, which googletest and gVisor's tests go by."""
        work = sandbox.work_path if self.target.is_host else WORK
        own = {"TEST_TMPDIR": f"{work}/{SCRATCH}", "LC_ALL": "C.UTF-8"}
        if self.target.is_host:
            own["HOME"] = work
        if self.program.runfiles:
            own |= {"TEST_SRCDIR": self.program.runfiles, "RUNFILES_DIR": self.program.runfiles}
        return own | dict(self.options.env)


class _Timed:
    """Refusals by the time at which they were seen. The supervisor counts from the moment at which
    the guest starts, we from before the sandbox is set up, and what is printed reaches us late: on
    a busy machine a refusal may be charged to the cases beside its own as well. A case that is run
    by itself has none but its own."""

    def __init__(self, ran: Ran) -> None:
        self._refusals = ran.result.refusals
        self._late_s = max(0.0, ran.seconds - ran.result.usage.wall_s)

    def between(
        self, began_s: float, ended_s: float, *, limits: bool = False
    ) -> tuple[Refusal, ...]:
        """Those of a case; ``limits`` that ended the run belong to its last one."""
        return _refused(
            one
            for one in self._refusals
            if began_s - self._late_s < one.time_s <= ended_s or (limits and one.kind == "limit")
        )


def _refused(refusals: Iterable[Refusal], *, routine: bool = False) -> tuple[Refusal, ...]:
    """The likely cause last; what libraries look for anyway only if it is asked for, and first.
    Who asked is left out: that is the test."""
    ordered = sorted(refusals, key=lambda one: not is_routine(one))
    wanted = (one for one in ordered if routine or not is_routine(one))
    found = dict.fromkeys(one._replace(process=UNKNOWN, count=1, time_s=0.0) for one in wanted)
    return tuple(found)[-MAX_REFUSALS:]


def _ended(name: str, ended: gtest.Ended, refusals: _Timed) -> Outcome:
    seconds = max(0.0, ended.ended_s - ended.began_s)
    seen = () if ended.status == "passed" else refusals.between(ended.after_s, ended.ended_s)
    return Outcome(name, ended.status, seconds, "", _text(ended.output), seen)


def _reported(name: str, reported: gtest.Reported) -> Outcome:
    return Outcome(name, reported.status, reported.seconds, "", reported.text[-KEEP_BYTES:])


def _spread_suite_failure(suite: str, found: dict[str, Outcome], said: str) -> None:
    """googletest skips the cases of a suite whose set-up failed; they were not skipped by choice.
    A tear-down that fails is told for the suite."""
    told = f"{suite}: SetUpTestSuite or TearDownTestSuite failed"
    skipped = [
        name
        for name, one in found.items()
        if name.startswith(f"{suite}.") and one.status == "skipped"
    ]
    for name in skipped:
        detail = gtest.first_line(said)
        found[name] = found[name]._replace(
            status="failed", detail=f"{told}: {detail}" if detail else told, output=said
        )
    if not skipped:
        name = f"{suite}.(tear down)"
        found[name] = Outcome(name, "failed", detail=gtest.first_line(said) or told, output=said)


def _odd_exit(ran: Ran, found: Mapping[str, Outcome]) -> bool:
    """It ended with an error although no case failed."""
    return ran.result.exit_code != 0 and all(one.status != "failed" for one in found.values())


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
