"""What passes in the baseline and not here, and why: decided on values alone."""

from __future__ import annotations

import pytest

from wardian import Policy
from wardian.measure.suites.comparing import causes, gained_cases, lost_cases
from wardian.measure.suites.outcomes import ProgramResult, SuiteOutcome
from wardian.measure.suites.report import SuiteReport, is_bad, kept_share
from wardian.measure.target import Target
from wardian.sandbox.refusals.notes import UNKNOWN
from wardian.sandbox.run.result import Refusal

PTRACE = Refusal("process", "ptrace", "ptrace(PTRACE_TRACEME)", UNKNOWN, "no debugging")
LOOK = Refusal("file", "stat", "/etc/x", UNKNOWN, "not shared")


def result(sandbox: str, *outcomes: SuiteOutcome) -> ProgramResult:
    return ProgramResult("p", "/p", "d", "gtest", sandbox, "k", outcomes)


def passed(case: str) -> SuiteOutcome:
    return SuiteOutcome(case, "passed")


def reported(*results: ProgramResult) -> SuiteReport:
    names = dict.fromkeys(one.sandbox for one in results)
    return SuiteReport(results, [Target(name, Policy()) for name in names], "host")


@pytest.mark.parametrize("status", ["failed", "skipped", "crashed", "timeout", "not_run"])
def test_whatever_does_not_pass_is_lost(status: str) -> None:
    host = result(
        "host", passed("A.a"), SuiteOutcome("A.b", "failed"), SuiteOutcome("A.c", "skipped")
    )
    here = result(
        "wardian", SuiteOutcome("A.a", status), SuiteOutcome("A.b", status), passed("A.c")
    )
    assert [(one.case, one.status) for one in lost_cases([host, here], "host")] == [("A.a", status)]


def test_what_fails_in_the_baseline_and_passes_here_is_gained() -> None:
    host = result("host", SuiteOutcome("A.a", "failed"), SuiteOutcome("A.b", "skipped"))
    here = result("wardian", passed("A.a"), passed("A.b"))
    assert gained_cases([host, here], "host") == [("wardian", "p", "A.a")]


def test_a_program_that_can_not_be_listed_loses_all_its_cases() -> None:
    host = result("host", passed("A.a"), passed("A.b"))
    here = result("wardian", SuiteOutcome("(program)", "crashed", detail="it ended with SIGSYS"))
    lost = lost_cases([host, here], "host")
    assert [(one.case, one.status) for one in lost] == [("A.a", "not_run"), ("A.b", "not_run")]
    assert {one.cause for one in lost} == {"crashed: it ended with SIGSYS"}
    assert kept_share(reported(host, here), "wardian") == (0, 2)


def test_what_befalls_a_program_besides_its_cases_is_reported_and_counts_as_no_case() -> None:
    host = result("host", passed("A.a"))
    here = result("wardian", passed("A.a"), SuiteOutcome("(program)", "crashed"))
    assert [one.case for one in lost_cases([host, here], "host")] == ["(program)"]
    assert kept_share(reported(host, here), "wardian") == (1, 1)
    assert is_bad(reported(host, here))


def test_a_refusal_is_the_cause_and_a_look_at_a_file_only_if_there_is_no_other() -> None:
    host = result("host", *(passed(f"A.{name}") for name in "abc"))
    here = result(
        "wardian",
        SuiteOutcome("A.a", "failed", detail="a.cc:1: no", refusals=(PTRACE, LOOK)),
        SuiteOutcome("A.b", "failed", detail="a.cc:2: no", refusals=(LOOK,)),
        SuiteOutcome("A.c", "failed", detail="a.cc:3: no"),
    )
    assert [one.cause for one in causes(lost_cases([host, here], "host"))] == [
        "failed: a.cc:3: no",
        "refused: file stat /etc/x (not shared)",
        "refused: process ptrace (no debugging)",
    ]


def test_what_passes_by_itself_is_unsteady() -> None:
    host = result("host", passed("A.a"))
    here = result("wardian", SuiteOutcome("A.a", "failed", alone="passed", refusals=(PTRACE,)))
    (lost,) = lost_cases([host, here], "host")
    assert (lost.unsteady, lost.cause) == (True, "flaky: it passes when run alone")
    assert not is_bad(reported(host, here))
    assert kept_share(reported(host, here), "wardian") == (1, 1)


def test_a_result_is_read_back_as_it_was_written() -> None:
    one = result(
        "wardian", SuiteOutcome("A.a", "failed", 0.25, "why", "said", (PTRACE,), "failed", "3")
    )
    assert ProgramResult.read(one.document()) == one
