"""Syscall by sandbox; differences from the host, and which of them policy explains."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.measure.syscalls.measured import artifact, bad, good, unasked
from wardian.measure.pages.documents import syscalls as pages
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.verdict import SpecimenCheck
from wardian.measure.syscalls import report
from wardian.measure.syscalls.matrix import Matrix, build
from wardian.measure.syscalls.usage import CallUse
from wardian.syscalls import rows


def both(
    call: str, host: list[SpecimenCheck], inside: list[SpecimenCheck], **fields: Any
) -> list[Artifact]:
    """A call measured on the host, and in wardian."""
    return [
        artifact(call, *host, sandbox="host", profile="host-user"),
        artifact(call, *inside, **fields),
    ]


def matrix(*artifacts: Artifact) -> Matrix:
    return build(artifacts, "x86_64")


def test_every_call_of_the_architecture_has_a_line_measured_or_not() -> None:
    found = matrix(artifact("read", good("a")))
    assert [line.name for line in found.lines] == [r.name for r in rows() if r.x86_64 is not None]
    assert found.counts("wardian") == {
        "supported": 1, "partial": 0, "denied": 0, "missing": 0,
        "unmeasured": len(found.lines) - 1,
    }  # fmt: skip
    assert found.status("read", "wardian") == "supported"
    assert found.status("write", "wardian") is None
    arm = build([artifact("read", good("a"))], "aarch64")
    assert {line.number for line in arm.lines if line.name == "read"} == {63}
    assert "open" not in [line.name for line in arm.lines]


def test_sandboxes_stand_in_the_order_in_which_they_were_asked_for() -> None:
    ones = [artifact("read", good("a"), sandbox=name) for name in ("wardian", "host", "gvisor")]
    assert build(ones, "x86_64", ("host", "wardian", "bubblewrap")).sandboxes == ("host", "wardian")


def test_without_the_host_nothing_is_said_of_differences() -> None:
    found = matrix(artifact("read", bad("a", "EPERM")))
    assert found.differences is None
    assert found.unexplained == ()


@pytest.mark.parametrize(
    ("call", "inside", "because"),
    [
        ("mount", bad("a", "EPERM"), "the table"),
        ("openat2", bad("a", "ENOSYS"), "the table"),
        ("socket", bad("a", "EAFNOSUPPORT"), "the table"),
        ("mount", bad("a", None, "killed by signal 31"), "the table"),
        ("mount", bad("a", "EINVAL"), ""),
        ("read", bad("a", "EPERM"), ""),
        ("read", bad("a", None, "killed by signal 11"), ""),
        ("read", bad("a", None, "other bytes"), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_policy_explains_only_its_own_answers(
    call: str, inside: SpecimenCheck, because: str
) -> None:
    found = matrix(*both(call, [good("a")], [inside]))
    (one,) = found.differences or ()
    assert one.explained.startswith(because)
    assert bool(found.unexplained) == (not because)


def test_an_expectation_explains_with_its_reason() -> None:
    fields = {"expected": "blocked", "status": "blocked_expected", "reason": "no capabilities"}
    found = matrix(*both("setgroups", [good("a")], [bad("a", "EPERM")], **fields))
    assert [one.explained for one in found.differences or ()] == [
        "expected of wardian: no capabilities"
    ]
    wrong = fields | {"status": "blocked_unexpected"}
    assert matrix(*both("setuid", [good("a")], [bad("a", "EINVAL")], **wrong)).unexplained


def test_a_policy_s_own_decision_explains_in_the_place_of_the_table_s() -> None:
    ones = both("getcpu", [good("a")], [bad("a", "EPERM")])
    assert build(ones, "x86_64").unexplained
    assert not build(ones, "x86_64", decisions={"getcpu": "deny"}).unexplained
    ones = both("mount", [good("a")], [bad("a", "EPERM")])
    assert build(ones, "x86_64", decisions={"mount": "allow"}).unexplained


def test_more_than_the_host_is_a_difference_too() -> None:
    found = matrix(*both("read", [bad("a", "EPERM")], [good("a")]))
    assert [one.ok for one in found.unexplained] == [True]


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ([good("a")], [good("a")]),
        ([bad("a", "EPERM")], [bad("a", "EINVAL")]),
        ([unasked("a")], [bad("a", "ENOSYS")]),
        ([good("a")], [unasked("a")]),
    ],
    ids=["same", "both fail", "not asked there", "not asked here"],
)
def test_no_difference_is_made_up(host: list[SpecimenCheck], inside: list[SpecimenCheck]) -> None:
    assert matrix(*both("read", host, inside)).differences == ()


def test_a_specimen_that_gives_no_answer_inside_differs() -> None:
    found = matrix(
        *both("read", [good("a"), good("b")], [], observed=None, status="timeout", cause="it hung")
    )
    assert [one.detail for one in found.unexplained] == ["it hung"]


# What people and machines read


def full() -> tuple[Matrix, list[Artifact], list[CallUse]]:
    ones = [
        *both("read", [good("a"), good("b")], [good("a"), bad("b", "EINVAL", "\x1b[31m|<b>")]),
        *both("mount", [good("a")], [bad("a", "EPERM")]),
        *both("tuxcall", [bad("a", "ENOSYS")], [bad("a", "ENOSYS")]),
        *both("write", [good("a")], [good("a")]),
    ]
    uses = [
        CallUse("sh", "interpreter", ("mount", "read", "write", "close")),
        CallUse("r", "interpreter", problem="Rscript is not installed", skipped=True),
        CallUse("csv-report", "skill", ("write",)),
    ]
    return matrix(*ones), ones, uses


def test_the_document_has_what_its_readers_rely_on() -> None:
    document = report.document(*full())
    assert json.loads(json.dumps(document)) == document
    assert document["schema"] == "wardian.syscalls-coverage/1"
    by_name = {one["name"]: one for one in document["syscalls"]}
    read = by_name["read"]
    assert (read["number"], read["group"], read["priority"]) == (0, "files", "critical")
    assert read["in"] == {"host": "supported", "wardian": "partial"}
    assert "b:" in read["notes"]["wardian"]
    assert by_name["mount"]["in"] == {"host": "supported", "wardian": "denied"}
    assert by_name["tuxcall"]["in"] == {"host": "missing", "wardian": "missing"}
    assert by_name["close"]["in"] == {}
    assert document["priorities"]["critical"]["wardian"]["partial"] == 1
    assert document["groups"]["mounts"]["wardian"]["denied"] == 1
    assert [one["syscall"] for one in document["unexplained"]] == ["read"]
    assert {one["syscall"] for one in document["differences"]} == {"read", "mount"}
    program = document["programs"][0]["in"]["wardian"]
    assert program == {
        "supported": 1,
        "of": 4,
        "lacking": {"mount": "denied", "read": "partial"},
        "unmeasured": ["close"],
    }


def test_the_matrix_can_be_read_at_a_glance() -> None:
    found, _, uses = full()
    lines = [line.split() for line in report.matrix_lines(found)]
    assert lines[0] == ["syscall", "nr", "priority", "wardian", "host"]
    assert ["read", "0", "critical", "partly", "1/2", "yes"] in lines
    assert ["mount", "165", "low", "denied", "yes"] in lines
    assert ["close", "3", "critical", ".", "."] in lines
    reported = "\n".join(
        [
            *report.note_lines(found),
            *report.difference_lines(found.unexplained),
            *report.use_lines(uses, found),
            *report.counts_lines(found),
        ]
    )
    assert "\x1b" not in reported
    assert "partly: read in wardian: b:" in reported
    assert "unexplained: read in wardian: b" in reported
    assert "skill csv-report" in reported
    assert "Rscript is not installed" in reported
    assert "2 checks differ from the host, 1 of them unexplained" in report.summary(found)


def test_the_analysis_has_the_shape_that_its_readers_know() -> None:
    text = pages.analysis(*full())
    for title in (
        "## Summary",
        "## Syscall coverage matrix",
        "## Gaps identified",
        "## Recommendations",
        "## gVisor test references",
    ):
        assert f"\n{title}\n" in text
    assert "# gVisor syscall analysis: 2026-01-02" in text
    assert "| `read` | **partial** 1/2 | supported 2/2 | `read.cc`" in text
    assert "\x1b" not in text
    assert "<b>" not in text
    assert all(
        line.count(" | ") >= 5 for line in text.splitlines() if line.startswith("| `read` |")
    )
    assert "`mount` is denied in wardian and made by sh" in text


def test_an_analysis_of_nothing_wrong_recommends_nothing() -> None:
    found = matrix(*(one for row in rows() for one in both(row.name, [good("a")], [good("a")])))
    text = pages.analysis(found, both("read", [good("a")], [good("a")]), [])
    assert "## Recommendations\n\nNone" in text


def test_the_reference_page_has_every_call_and_is_the_same_each_time() -> None:
    text = pages.reference()
    assert text == pages.reference()
    for row in rows():
        assert f"| `{row.name}` |" in text
