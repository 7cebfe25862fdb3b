"""Checks become one of four statuses, and what is lacking is noted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measure.syscalls.measured import artifact, bad, good, unasked
from wardian.measure.outcome import CALL
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.verdict import SpecimenCheck
from wardian.measure.syscalls.cells import CallSupport, answers, cell
from wardian.syscalls import lookup, rows


def of(call: str, *artifacts: Artifact, **more: object) -> CallSupport:
    found = cell(lookup(call), artifacts, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("call", "checks", "status"),
    [
        ("read", [good("a"), good("b")], "supported"),
        ("read", [good("a"), unasked("b")], "supported"),
        ("read", [good("a"), bad("b", "EINVAL")], "partial"),
        ("read", [good("a"), bad("b", "EPERM")], "partial"),
        ("read", [bad("a", "EPERM"), bad("b", "EINVAL")], "denied"),
        ("read", [bad("a", "EACCES")], "denied"),
        ("read", [bad("a", None, "killed by signal 31")], "denied"),
        ("read", [bad("a", "ENOSYS"), bad("b", "ENOSYS")], "missing"),
        ("read", [bad("a", "EINVAL")], "missing"),
        ("read", [unasked("a")], "missing"),
        ("mount", [bad("a", "EPERM")], "denied"),
        ("mount", [good("refuses an ordinary user"), bad("b", "EPERM")], "denied"),
        ("mount", [good("a"), bad("b", "EINVAL")], "partial"),
        ("openat2", [bad("a", "ENOSYS")], "denied"),
        ("openat2", [good("a"), bad("b", "ENOSYS")], "denied"),
        ("tuxcall", [bad("a", "ENOSYS")], "missing"),
        ("socket", [good("unix"), bad("vsock", "EAFNOSUPPORT")], "partial"),
        ("socket", [bad("vsock", "EAFNOSUPPORT")], "denied"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_checks_decide_the_status(call: str, checks: list[SpecimenCheck], status: str) -> None:
    assert of(call, artifact(call, *checks)).status == status


def test_what_the_host_lacks_was_not_denied() -> None:
    ones = [artifact("uselib", bad("a", "ENOSYS"))]
    assert of("uselib", *ones, on_host="missing").status == "missing"
    assert of("uselib", *ones, on_host="supported").status == "denied"


def test_specimens_of_one_call_are_taken_together() -> None:
    found = of("read", artifact("read", good("a")), artifact("read", bad("b"), specimen="read_2"))
    assert (found.status, found.ok, found.asked) == ("partial", 1, 2)


def test_a_note_names_the_checks_that_fail_and_counts_the_rest() -> None:
    checks = [good("fine"), *(bad(f"check_{i}", "EINVAL", "read: no") for i in range(5))]
    note = of("read", artifact("read", *checks)).note
    assert note.startswith("check_0: read: no; check_1: read: no; check_2")
    assert note.endswith("; and 2 more")
    assert "fine" not in note


def test_a_specimen_without_checks_is_a_check() -> None:
    assert of("read", artifact("read")).status == "supported"
    blocked = artifact("read", observed="blocked", errno="EPERM", status="blocked_unexpected")
    assert of("read", blocked).status == "denied"


@pytest.mark.parametrize("status", ["timeout", "crashed", "error", "garbage", "silent"])
def test_no_answer_is_a_failed_check_and_not_forgotten(status: str) -> None:
    one = artifact("read", observed=None, status=status, cause="it hung")
    found = of("read", one, artifact("read", good("a"), specimen="other"))
    assert (found.status, found.note) == ("partial", "read: it hung")


def test_what_was_not_run_was_not_measured() -> None:
    lacking = artifact("read", observed=None, status="not_run", cause="no sandbox")
    no_compiler = artifact("read", observed="unavailable", status="unavailable", duration_s=0.0)
    assert cell(lookup("read"), [lacking, no_compiler]) is None
    assert cell(lookup("read"), []) is None


def test_every_refusal_of_the_table_has_its_errno() -> None:
    assert answers(lookup("mount")) == {"EPERM"}
    assert answers(lookup("openat2")) == {"ENOSYS"}
    assert answers(lookup("socket")) == {"EPERM", "EPROTONOSUPPORT", "EAFNOSUPPORT"}
    assert answers(lookup("read")) == frozenset()


checks = st.builds(
    SpecimenCheck,
    st.sampled_from("abc"),
    st.sampled_from([True, False, None]),
    st.sampled_from([None, "EPERM", "EINVAL", "ENOSYS"]),
    st.sampled_from(["", "killed by signal 9", "odd"]),
)


@given(st.sampled_from(rows()), st.lists(checks, min_size=1, max_size=5))
def test_any_checks_have_a_status_and_what_is_lacking_a_note(
    row: object, ones: list[SpecimenCheck]
) -> None:
    found = of(row.name, artifact(row.name, *ones))  # type: ignore[attr-defined]
    assert found.status in CALL
    assert found.note or found.status == "supported"
    if found.status == "supported":
        assert not any(one.ok is False for one in ones)
    if found.status == "partial":
        assert {True, False} <= {one.ok for one in ones}
