"""Assign output, report and end of a run to its cases, as outcomes. Pure,
except for the clock that it is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from wardian.measure.refused import general, likely, worth_keeping
from wardian.measure.suites import gtest
from wardian.measure.suites.execution import Execution
from wardian.measure.suites.outcomes import PROGRAM_CASE, SuiteOutcome
from wardian.sandbox.run.result import Refusal

KEEP_BYTES = 16 << 10
HANGS_ALIKE = 3  # with one and the same refusal, after which the rest gets a part of its time
HANGS_IN_A_ROW = 2  # the same, whatever was refused
IMPATIENCE = 4


class Timed:
    """Refusals by the time at which they were seen. The supervisor counts from the moment at which
    the guest starts, we from before the sandbox is set up, and what is printed reaches us late: on
    a busy machine a refusal may be charged to the cases beside its own as well. A case that is run
    by itself has none but its own."""

    def __init__(self, ran: Execution) -> None:
        self._refusals = ran.result.refusals
        self._late_s = max(0.0, ran.seconds - ran.result.usage.wall_s)

    def between(
        self, began_s: float, ended_s: float, *, limits: bool = False
    ) -> tuple[Refusal, ...]:
        """Those of a case; ``limits`` that ended the run belong to its last one."""
        return worth_keeping(
            one
            for one in self._refusals
            if began_s - self._late_s < one.time_s <= ended_s or (limits and one.kind == "limit")
        )


class Patience:
    """How long each case of a program may take. Many cases may hang at the same refusal; they get a
    shorter time. A case that hangs for another reason gets the whole time."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._alike: Counter[str] = Counter()
        self._in_a_row = 0
        self._whole = False  # the next has hung in a short time, for a reason of its own

    @property
    def case_s(self) -> float:
        """For the next case."""
        return self.timeout_s / IMPATIENCE if self._short else self.timeout_s

    @property
    def in_a_row(self) -> int:
        """How many cases hung since one last ended."""
        return self._in_a_row

    @property
    def _short(self) -> bool:
        if self._whole:
            return False
        alike = any(count >= HANGS_ALIKE for key, count in self._alike.items() if key)
        return alike or self._in_a_row >= HANGS_IN_A_ROW

    def ended(self) -> None:
        """A run came to its end."""
        self._in_a_row, self._whole = 0, False

    def hung(self, refusals: tuple[Refusal, ...]) -> bool:
        """A case hung; False if its time was short and another reason than before is seen: it must
        have the whole time first."""
        refusal = likely(refusals)
        key = general(refusal) if refusal is not None else ""
        if self._short and not self._alike[key]:
            self._whole = True
            return False
        self._whole = False
        self._alike[key] += 1
        self._in_a_row += 1
        return True


def ended(name: str, case: gtest.Ended, refusals: Timed) -> SuiteOutcome:
    """The outcome of a case according to the running output."""
    seconds = max(0.0, case.ended_s - case.began_s)
    seen = () if case.status == "passed" else refusals.between(case.after_s, case.ended_s)
    return SuiteOutcome(name, case.status, seconds, "", text(case.output), seen)


def reported(name: str, case: gtest.Reported) -> SuiteOutcome:
    """The outcome of a case according to the report that the program wrote at its end."""
    return SuiteOutcome(name, case.status, case.seconds, "", case.text[-KEEP_BYTES:])


def charged(name: str, stream: gtest.Stream, ran: Execution, patience: Patience) -> SuiteOutcome:
    """The case that ran when the program ended, or that would have been the next."""
    running = name == stream.current
    output = stream.running_output if running else stream.outside.bytes
    began_s = stream.began_s if running else stream.moved_s
    seconds = max(0.0, ran.seconds - began_s)
    if ran.late:
        patience_s = patience.case_s if began_s else patience.timeout_s
        status, detail = "timeout", f"it did not end within {patience_s:g} s"
    else:
        status, detail = "crashed", f"the program {ran.end.wording}"
    if not running:
        detail += ", before it began"
    seen = Timed(ran).between(stream.after_s, ran.seconds, limits=bool(ran.end.reason))
    return SuiteOutcome(name, status, seconds, detail, text(output), seen)


def after_its_end(name: str, stream: gtest.Stream, ran: Execution) -> SuiteOutcome:
    """A case that printed that it had ended, whereupon the program did, and nothing besides."""
    status = "timeout" if ran.late else "crashed"
    detail = "the program hung" if ran.late else f"the program {ran.end.wording}"
    printed = stream.ended[name]
    seen = Timed(ran).between(printed.after_s, ran.seconds, limits=bool(ran.end.reason))
    seconds = max(0.0, ran.seconds - printed.began_s)
    detail += f" after the case had printed {printed.status}"
    return SuiteOutcome(name, status, seconds, detail, text(printed.output), seen)


def after_all(stream: gtest.Stream, ran: Execution, patience: Patience) -> SuiteOutcome:
    """How the program ended after all cases were done."""
    status = "timeout" if ran.late else "crashed" if ran.end.signal else "failed"
    detail = f"after its last case it {ran.end.wording}"
    if ran.late:
        detail = f"it did not end within {patience.case_s:g} s after its last case"
    return SuiteOutcome(PROGRAM_CASE, status, 0.0, detail, text(stream.outside.bytes))


def spread_suite_failure(suite: str, found: dict[str, SuiteOutcome], said: str) -> None:
    """googletest skips the cases of a suite whose set-up failed; they were not skipped by choice.
    A tear-down that fails is reported for the suite."""
    failure = f"{suite}: SetUpTestSuite or TearDownTestSuite failed"
    skipped = [
        name
        for name, one in found.items()
        if name.startswith(f"{suite}.") and one.status == "skipped"
    ]
    for name in skipped:
        detail = gtest.first_line(said)
        found[name] = found[name]._replace(
            status="failed", detail=f"{failure}: {detail}" if detail else failure, output=said
        )
    if not skipped:
        name = f"{suite}.(tear down)"
        found[name] = SuiteOutcome(
            name, "failed", detail=gtest.first_line(said) or failure, output=said
        )


def odd_exit(ran: Execution, found: Mapping[str, SuiteOutcome]) -> bool:
    """It ended with an error although no case failed."""
    return ran.result.exit_code != 0 and all(one.status != "failed" for one in found.values())


def text(data: bytes) -> str:
    """What a program printed."""
    return data.decode("utf-8", "replace")
