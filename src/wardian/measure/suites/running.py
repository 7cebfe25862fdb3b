"""One program in one target: its cases listed, run, and run on after a crash or a hang.

Every case that was listed gets an outcome. What ends the program costs the case that ran, not
those after it; what ends it again and again before any case has begun is given up, and told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from wardian.errors import WardianError
from wardian.measure.refused import MAX_REFUSALS, worth_keeping
from wardian.measure.suites import charging, gtest, lines
from wardian.measure.suites.charging import KEEP_BYTES, Patience, text
from wardian.measure.suites.execution import Clock, Execution, Running, RunOptions, execute
from wardian.measure.suites.outcomes import PROGRAM_CASE, SuiteOutcome
from wardian.measure.suites.programs import SuiteProgram
from wardian.measure.suites.suspecting import Watcher
from wardian.measure.suites.work import REPORT
from wardian.measure.target import WARDIAN, Target
from wardian.sandbox.run.result import Refusal
from wardian.sandbox.run.traffic import OnBytes

KEEP_BYTES_PASSED = 2 << 10
FRUITLESS_RUNS = 3  # in a row, that ended before any case began
MAX_HANGS_IN_A_ROW = 32
# The list, a line that nobody else prints, and the cases: all in one sandbox.
_LIST_AND_RUN = '"$0" --gtest_list_tests || exit 125; printf "\\n%s\\n" {mark}; exec "$0" "$@"'

OnCase = Callable[[str, str], None]
NOTHING_KNOWN: Mapping[str, SuiteOutcome] = MappingProxyType({})


class Counted(NamedTuple):
    """The outcomes of a program, the protocol that it turned out to speak, and its runs."""

    outcomes: tuple[SuiteOutcome, ...]
    protocol: str
    runs: int


def run_program(
    program: SuiteProgram,
    target: Target,
    options: RunOptions,
    running: Running,
    on_case: OnCase,
    known: Mapping[str, SuiteOutcome] = NOTHING_KNOWN,
) -> Counted:
    """Never raises for what the program does, nor for a sandbox that can't be had; raises Stopped.
    ``on_case`` hears of each case and its status, as far as they can be told while they run. What
    is ``known`` of a case is not asked again."""
    runs = _Runs(program, target, options, running, on_case)
    try:
        if program.protocol == "gtest":
            return Counted(tuple(runs.cases(known)), "gtest", runs.count)
        outcomes, protocol = runs.whole()
        return Counted(tuple(outcomes), protocol, runs.count)
    except (WardianError, OSError) as error:
        hint = getattr(error, "hint", None)
        why = f"the sandbox could not be set up: {error}" + (f" ({hint})" if hint else "")
        outcome = SuiteOutcome(PROGRAM_CASE, "not_run", detail=why[:500])
        return Counted((outcome,), program.protocol or "exit", runs.count)


def run_alone(
    program: SuiteProgram,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    *,
    explain: bool = True,
) -> SuiteOutcome | None:
    """One case of a program in a sandbox of its own; None if that could not be had. To explain it,
    if it does not pass and nothing was seen to be refused, it is run once more and watched."""
    outcome = _alone(program, case, target, options, running)
    if outcome is None or outcome.status == "passed" or outcome.refusals:
        return outcome
    if target.name != WARDIAN or not explain:
        return outcome
    watcher = Watcher()
    again = _alone(program, case, target, options, running, watcher.feed)
    if again is None:
        return outcome
    return outcome._replace(refusals=again.refusals, suspect=watcher.suspect)


def _alone(
    program: SuiteProgram,
    case: str,
    target: Target,
    options: RunOptions,
    running: Running,
    on_trace: OnBytes | None = None,
) -> SuiteOutcome | None:
    runs = _Runs(program, target, options, running, lambda case, status: None, on_trace=on_trace)
    try:
        if program.protocol != "gtest":
            return next((one for one in runs.whole()[0] if one.case == case), None)
        suite = case.partition(".")[0]
        runs.run_cases([case], [case, f"{suite}.(others)"])  # so that the suite is not named whole
        outcome = runs.outcomes.get(case)
        return outcome._replace(refusals=runs.refusals) if outcome is not None else None
    except (WardianError, OSError):
        return None


class _Listing:
    """Takes the output of a program that lists its cases and then runs them."""

    def __init__(self, on_end: Callable[[gtest.Stream], None]) -> None:
        self.mark = os.urandom(12).hex()
        self.printed = b""
        self.errors = b""
        self.listed: list[gtest.Listed] = []
        self.stream: gtest.Stream | None = None
        self._on_end = on_end

    def feed(self, data: bytes, at_s: float) -> None:
        if self.stream is None:
            self.printed += data
            before, mark, data = self.printed.partition(f"\n{self.mark}\n".encode())
            if not mark:
                return
            self.printed = before
            self.listed = gtest.parse_list(before)
            names = {one.name for one in self.listed if not one.disabled}
            self.stream = gtest.Stream(names, keep_bytes=KEEP_BYTES)
        self.stream.feed(data, at_s)
        self._on_end(self.stream)

    def feed_error(self, data: bytes) -> None:
        if self.stream is None:
            self.errors = (self.errors + data)[-KEEP_BYTES:]
        else:
            self.stream.feed_error(data)

    @property
    def moved_s(self) -> float:
        return self.stream.moved_s if self.stream is not None else 0.0


class _Runs:
    """All runs of one program in one target."""

    def __init__(
        self,
        program: SuiteProgram,
        target: Target,
        options: RunOptions,
        running: Running,
        on_case: OnCase,
        *,
        on_trace: OnBytes | None = None,
    ) -> None:
        self.program, self.target, self.options = program, target, options
        self.on_trace, self.running, self.on_case = on_trace, running, on_case
        self.patience = Patience(options.timeout_s)
        self.count = self.fruitless = 0
        self.outcomes: dict[str, SuiteOutcome] = {}
        self.refusals: tuple[Refusal, ...] = ()  # of the last run, whichever case it was
        self.told: set[str] = set()

    # Programs of many cases

    def cases(self, known: Mapping[str, SuiteOutcome]) -> Iterable[SuiteOutcome]:
        """Each case that is listed and wanted, in the order of the list."""
        wants = self.options.selection.wants
        if known or self.options.isolate or not self.options.selection.all:
            listed = self._listed()
        else:
            listed = self._listed_and_run()
        if isinstance(listed, SuiteOutcome):
            return [listed] if wants(self.program.name, PROGRAM_CASE) else []
        wanted = [
            one for one in listed if self.options.selection.wants(self.program.name, one.name)
        ]
        self.outcomes |= {one.name: known[one.name] for one in wanted if one.name in known}
        enabled = [one.name for one in wanted if not one.disabled and one.name not in self.outcomes]
        every = [one.name for one in listed if not one.disabled]
        for names in [[name] for name in enabled] if self.options.isolate else [enabled]:
            self.run_cases(names, every)
        for one in wanted:
            if one.disabled:
                self.outcomes[one.name] = SuiteOutcome(one.name, "disabled")
            elif one.name not in self.outcomes:
                self.outcomes[one.name] = SuiteOutcome(one.name, "not_run", detail="it never ran")
        parameters = {one.name: one.parameter for one in wanted}
        own = [self.outcomes.pop(name)._replace(parameter=parameters[name]) for name in parameters]
        return [*own, *self.outcomes.values()]

    def _listed(self) -> list[gtest.Listed] | SuiteOutcome:
        """The cases, or what kept the program from listing them."""
        pieces: list[bytes] = []
        errors: list[bytes] = []
        ran = self._run(
            [self.program.path, "--gtest_list_tests"],
            lambda data, at_s: pieces.append(data),
            errors.append,
        )
        listed = gtest.parse_list(b"".join(pieces))
        if listed and not ran.late and ran.result.exit_code == 0:
            return listed
        return self._unlisted(ran, b"".join((*pieces, *errors)))

    def _listed_and_run(self) -> list[gtest.Listed] | SuiteOutcome:
        """The cases, all of which have been run once: to list them takes no sandbox of its own."""
        listing = _Listing(self._on_end)
        script = _LIST_AND_RUN.format(mark=listing.mark)
        argv = ["/bin/sh", "-c", script, self.program.path, *_FLAGS]
        self.count += 1
        ran = self._run(argv, listing.feed, listing.feed_error, lambda: listing.moved_s)
        stream = listing.stream
        if stream is None or not listing.listed:
            if ran.late:
                return self._unlisted(ran, listing.printed + listing.errors)
            return self._listed()  # it says best by itself what is wrong
        enabled = [one.name for one in listing.listed if not one.disabled]
        self._account(stream, ran, enabled)
        return listing.listed

    def _unlisted(self, ran: Execution, printed: bytes) -> SuiteOutcome:
        if ran.late:
            told = f"it did not list its cases within {self.options.timeout_s:g} s"
        elif ran.not_started:
            told = ran.not_started
        elif ran.result.exit_code == 0:
            told = "it lists no case"
        else:
            told = f"it {ran.end.told} when it was to list its cases"
        status = "timeout" if ran.late else "crashed" if ran.result.exit_code else "failed"
        refusals = worth_keeping(ran.result.refusals)
        return SuiteOutcome(
            PROGRAM_CASE, status, ran.seconds, told, text(printed)[-KEEP_BYTES:], refusals
        )

    def run_cases(self, wanted: Sequence[str], every: Sequence[str]) -> None:
        """Run them, in as many runs as it takes."""
        left = list(wanted)
        while left:
            pattern, chosen = gtest.filters(left, every)[0]
            whole = len(chosen) == len(every)
            done = self._one_run(None if whole else pattern, chosen)
            left = [name for name in left if name not in done]
            hangs = self.patience.in_a_row
            if left and (self.fruitless >= FRUITLESS_RUNS or hangs >= MAX_HANGS_IN_A_ROW):
                what = "ended before a case began" if self.fruitless else "hung"
                times = self.fruitless or hangs
                self._give_up(left, f"given up: the program {what} {times} times in a row", done)
                return

    def _give_up(self, names: Iterable[str], why: str, after: Iterable[str]) -> None:
        """What was refused when it was given up is the best that is known of the rest."""
        refusals = tuple(dict.fromkeys(r for one in after for r in self.outcomes[one].refusals))
        for name in names:
            self._note(SuiteOutcome(name, "not_run", detail=why, refusals=refusals[:MAX_REFUSALS]))

    def _one_run(self, pattern: str | None, chosen: Sequence[str]) -> set[str]:
        """The cases that are done with."""
        stream = gtest.Stream(set(chosen), keep_bytes=KEEP_BYTES)

        def on_stdout(data: bytes, at_s: float) -> None:
            stream.feed(data, at_s)
            self._on_end(stream)

        argv = [self.program.path, *_FLAGS]
        if pattern is not None:
            argv.append(f"--gtest_filter={pattern}")
        ran = self._run(argv, on_stdout, stream.feed_error, lambda: stream.moved_s)
        return self._account(stream, ran, chosen)

    def _on_end(self, stream: gtest.Stream) -> None:
        """Tell of the cases that have ended meanwhile."""
        for name in [name for name in stream.ended if name not in self.told]:
            self.told.add(name)
            self.on_case(name, stream.ended[name].status)

    def _account(self, stream: gtest.Stream, ran: Execution, chosen: Sequence[str]) -> set[str]:
        """Note what came of the cases of a run; returns those that are done with."""
        stream.close(ran.seconds)
        began = bool(stream.ended) or stream.current is not None or bool(ran.report)
        self.fruitless = 0 if began else self.fruitless + 1
        self.refusals = worth_keeping(ran.result.refusals, routine=True)
        refusals = charging.Timed(ran)
        found = {name: charging.ended(name, one, refusals) for name, one in stream.ended.items()}
        for name, reported in ran.report.items():
            if name in chosen and name not in found:
                found[name] = charging.reported(name, reported)
        for suite, said in stream.suites_failed.items():
            charging.spread_suite_failure(suite, found, text(said.bytes))
        culprit = self._doubtful(stream, ran, chosen)
        left = [name for name in chosen if name not in found]
        if culprit is not None:
            found[culprit.case] = culprit  # and nobody else ended the program
        elif left:
            name = stream.current if stream.current in left else left[0]
            outcome = charging.charged(name, stream, ran, self.patience)
            if not ran.late or self.patience.hung(outcome.refusals):
                found[name] = outcome
        elif ran.died or charging.odd_exit(ran, found):
            self._note(charging.after_all(stream, ran, self.patience), quiet=True)
        if not ran.late:
            self.patience.ended()
        for name, outcome in found.items():
            self._note(outcome, quiet=name in self.told)
        return set(found)

    def _doubtful(
        self, stream: gtest.Stream, ran: Execution, chosen: Sequence[str]
    ) -> SuiteOutcome | None:
        """A case that printed that it had passed, after which nothing came but the end: perhaps it
        printed so itself. By itself it shows what it comes to."""
        name = stream.unconfirmed
        if name is None or not ran.died:
            return None
        if len(chosen) == 1:
            return charging.after_its_end(name, stream, ran)
        self._one_run(name, [name])
        alone = self.outcomes[name]
        return alone if alone.status != stream.ended[name].status else None

    def _note(self, outcome: SuiteOutcome, *, quiet: bool = False) -> None:
        kept = KEEP_BYTES_PASSED if outcome.status in ("passed", "skipped") else KEEP_BYTES
        if len(outcome.output) > kept:
            outcome = outcome._replace(output=outcome.output[-kept:])
        if not outcome.detail and outcome.status in ("failed", "skipped"):
            outcome = outcome._replace(detail=gtest.first_line(outcome.output))
        self.outcomes[outcome.case] = outcome
        if not quiet:
            self.on_case(outcome.case, outcome.status)

    # Programs that are one test, or tell their own points

    def whole(self) -> tuple[list[SuiteOutcome], str]:
        """The outcomes, and which protocol it was."""
        if not self.options.selection.wants(self.program.name, PROGRAM_CASE):
            return [], self.program.protocol or "exit"
        printed, error = gtest.Excerpt(8 << 20), gtest.Excerpt(KEEP_BYTES)
        ran = self._run([self.program.path], lambda data, at_s: printed.add(data), error.add)
        said = text(printed.bytes)
        tap = self.program.protocol == "tap" or (not self.program.protocol and lines.is_tap(said))
        end = (said[-KEEP_BYTES:] + text(error.bytes))[-KEEP_BYTES:]
        refusals = worth_keeping(ran.result.refusals)
        outcomes = [
            SuiteOutcome(
                one.case, one.status, ran.seconds if one.case == PROGRAM_CASE else 0.0,
                one.detail, (one.output or end)[-KEEP_BYTES:] if one.status != "passed" else "",
                refusals if one.status != "passed" else (),
            )
            for one in self._points(ran, said, end, tap=tap)
        ]  # fmt: skip
        for one in outcomes:
            self.on_case(one.case, one.status)
        return outcomes, "tap" if tap else "exit"

    def _points(self, ran: Execution, said: str, end: str, *, tap: bool) -> list[lines.Point]:
        if ran.not_started:
            return [lines.Point(PROGRAM_CASE, "crashed", ran.not_started, end)]
        if ran.late:
            told = f"it did not end within {self.options.timeout_s:g} s"
            points = lines.parse_tap(said)[0] if tap else []
            return [*points, lines.Point(PROGRAM_CASE, "timeout", told, end)]
        if tap:
            return lines.judge_tap(said, ran.end)
        return [lines.Point(PROGRAM_CASE, *lines.judge_exit(ran.end), end)]

    def _run(
        self,
        argv: Sequence[str],
        on_stdout: Callable[[bytes, float], None],
        on_stderr: OnBytes,
        moved_s: Callable[[], float] = lambda: 0.0,
    ) -> Execution:
        """Raises SandboxError, Stopped."""
        self.count += 1
        clock = Clock(self.options.timeout_s, self.patience.case_s, moved_s)
        return execute(
            self.program, self.target, self.options, self.running, argv, clock, on_stdout,
            on_stderr, self.on_trace,
        )  # fmt: skip


_FLAGS = ("--gtest_color=no", "--gtest_print_time=1", f"--gtest_output=json:{REPORT}")
