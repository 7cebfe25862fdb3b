"""The cases of a googletest program in one target: listed, run, and run on after a crash or a hang.

Every case that was listed gets an outcome. What ends the program costs the case that ran, not
those after it; a program that repeatedly ends before any case begins is given up and reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from wardian.measure.refused import MAX_REFUSALS, worth_keeping
from wardian.measure.suites import charging, gtest
from wardian.measure.suites.charging import KEEP_BYTES, Patience, text
from wardian.measure.suites.execution import Execution, ProgramRuns
from wardian.measure.suites.outcomes import PROGRAM_CASE, SuiteOutcome
from wardian.measure.suites.work import REPORT
from wardian.sandbox.run.result import Refusal
from wardian.sandbox.run.traffic import OnBytes

KEEP_BYTES_PASSED = 2 << 10
FRUITLESS_RUNS = 3  # in a row, that ended before any case began
MAX_HANGS_IN_A_ROW = 32
_FLAGS = ("--gtest_color=no", "--gtest_print_time=1", f"--gtest_output=json:{REPORT}")
# The list, a line that nobody else prints, and the cases: all in one sandbox.
_LIST_AND_RUN = '"$0" --gtest_list_tests || exit 125; printf "\\n%s\\n" {mark}; exec "$0" "$@"'

OnCase = Callable[[str, str], None]


class _Listing:
    """Takes the output of a program that lists its cases and then runs them."""

    def __init__(self, on_end: Callable[[gtest.Stream], None]) -> None:
        self.mark = os.urandom(12).hex()
        self.printed = bytearray()
        self.errors = b""
        self.listed: list[gtest.Listed] = []
        self.stream: gtest.Stream | None = None
        self._on_end = on_end

    def feed(self, data: bytes, at_s: float) -> None:
        if self.stream is None:
            self.printed += data
            mark = f"\n{self.mark}\n".encode()
            at = self.printed.find(mark, max(0, len(self.printed) - len(data) - len(mark)))
            if at < 0:
                return
            data = bytes(self.printed[at + len(mark) :])
            del self.printed[at:]
            self.listed = gtest.parse_list(bytes(self.printed))
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


class GtestCases:
    """The cases of one program, in as many runs as it takes."""

    def __init__(self, runs: ProgramRuns, on_case: OnCase) -> None:
        self.runs, self.on_case = runs, on_case
        self.program, self.options = runs.program, runs.options
        self.patience = Patience(runs.options.timeout_s)
        self.fruitless = 0
        self.outcomes: dict[str, SuiteOutcome] = {}
        self.refusals: tuple[Refusal, ...] = ()  # of the last run, whichever case it was
        self.announced: set[str] = set()

    def all(self, known: Mapping[str, SuiteOutcome]) -> Iterable[SuiteOutcome]:
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
        ran = self.runs.run(
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
        self.runs.count += 1
        ran = self._run(argv, listing.feed, listing.feed_error, lambda: listing.moved_s)
        stream = listing.stream
        if stream is None or not listing.listed:
            if ran.late:
                return self._unlisted(ran, bytes(listing.printed) + listing.errors)
            return self._listed()  # it says best by itself what is wrong
        enabled = [one.name for one in listing.listed if not one.disabled]
        self._account(stream, ran, enabled)
        return listing.listed

    def _unlisted(self, ran: Execution, printed: bytes) -> SuiteOutcome:
        if ran.late:
            detail = f"it did not list its cases within {self.options.timeout_s:g} s"
        elif ran.not_started:
            detail = ran.not_started
        elif ran.result.exit_code == 0:
            detail = "it lists no case"
        else:
            detail = f"it {ran.end.wording} when it was to list its cases"
        status = "timeout" if ran.late else "crashed" if ran.result.exit_code else "failed"
        refusals = worth_keeping(ran.result.refusals)
        return SuiteOutcome(
            PROGRAM_CASE, status, ran.seconds, detail, text(printed)[-KEEP_BYTES:], refusals
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
        """Announce the cases that have ended since the last call."""
        for name in [name for name in stream.ended if name not in self.announced]:
            self.announced.add(name)
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
            self._note(outcome, quiet=name in self.announced)
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

    def _run(
        self,
        argv: Sequence[str],
        on_stdout: Callable[[bytes, float], None],
        on_stderr: OnBytes,
        moved_s: Callable[[], float],
    ) -> Execution:
        """Raises SandboxError, Stopped."""
        return self.runs.run(argv, on_stdout, on_stderr, moved_s, self.patience.case_s)
