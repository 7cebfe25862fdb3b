"""The parts that decide and draw: policy edits, patches, summaries, decisions, changes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.measure.campaign.test_store import CASE, OUTCOME, campaign
from wardian.errors import UsageError
from wardian.measure.campaign.cluster import ABSENT, Offer, able, common
from wardian.measure.campaign.units import Unit
from wardian.measure.campaign.workbench import Workbench
from wardian.measure.findings import findings, policy_edit
from wardian.measure.findings.patches import Edit, patch, patch_conflicts, touched
from wardian.measure.findings.policy_edit import with_lines
from wardian.measure.findings.troubles import Trouble, new_refusals
from wardian.measure.history.changes import Change, of_campaigns
from wardian.measure.history.comparison import Comparison
from wardian.measure.pages.documents import markdown, writing
from wardian.measure.refused import restored, stored
from wardian.measure.refused import text as reported
from wardian.measure.store.model import Measurement
from wardian.sandbox.run.result import Allow, Caller, Refusal

Tables = dict[str, dict[str, list[str]]]
CHMOD = '[syscalls]\nallow = ["chmod"]'


@pytest.mark.parametrize(
    ("text", "lines", "after"),
    [
        ("", CHMOD, '[syscalls]\nallow = ["chmod"]\n'),
        ('[syscalls]\nallow = ["a"]\n', CHMOD, '[syscalls]\nallow = ["a", "chmod"]\n'),
        ('[syscalls]\ndeny = ["chmod"]\n', CHMOD, "[syscalls]\n"),
        ('[syscalls]\ndeny = ["chmod", "b"]\n', CHMOD, '[syscalls]\ndeny = ["b"]\n'),
        (
            '[syscalls]\ndeny = [  # why\n  "x",\n  "chmod",\n]\n[limits]\nfiles = 9\n', CHMOD,
            '[syscalls]\ndeny = ["x"]\n[limits]\nfiles = 9\n',
        ),
        (
            '[limits]\nmemory = "1G"  # enough\ntime = "1s"\n', '[limits]\ntime = "2s"',
            '[limits]\nmemory = "1G"  # enough\ntime = "2s"\n',
        ),
        (
            "# mine\n[limits]\nfiles = 9\n", '[network]\nmode = "host"',
            '# mine\n[limits]\nfiles = 9\n\n[network]\nmode = "host"\n',
        ),
        ('[files]\nread = ["/a"]\n', '[files]\nread = ["/a"]', '[files]\nread = ["/a"]\n'),
    ],
)  # fmt: skip
def test_lines_come_into_a_policy_and_nothing_else_changes(
    text: str, lines: str, after: str
) -> None:
    assert with_lines(text, lines) == after


def test_without_tomlkit_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    policy_edit.require()
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(UsageError) as raised:
        policy_edit.require()
    assert "wardian[nightly]" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", 'policy = "p.toml"\n'),
        ("jobs = 1  # one\n", 'policy = "p.toml"\njobs = 1  # one\n'),
        ('policy = "default"\n# mine\njobs = 1\n', 'policy = "p.toml"\n# mine\njobs = 1\n'),
        ('[profiles]\nhost = "x"\n', 'policy = "p.toml"\n[profiles]\nhost = "x"\n'),
    ],
)
def test_a_configuration_names_the_new_policy_and_stays_as_it_is(text: str, after: str) -> None:
    assert policy_edit.with_value(text, "policy", "p.toml") == after


@given(
    st.dictionaries(
        st.sampled_from(["files", "limits", "syscalls", "network"]),
        st.dictionaries(
            st.sampled_from(["read", "deny", "allow", "time"]),
            st.lists(st.sampled_from(["a", "b", "chmod", 'q"\\']), max_size=3, unique=True),
            max_size=3,
        ),
        max_size=3,
    )
)
@settings(max_examples=200, deadline=None)
def test_an_edited_policy_is_toml_and_holds_what_it_held(
    tables: dict[str, dict[str, list[str]]],
) -> None:
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for table, keys in tables.items()
    )
    after = tomllib.loads(with_lines(text, CHMOD))
    calls = after.get("syscalls", {})
    assert "chmod" in calls.get("allow", []) or "chmod" in tables["syscalls"]["deny"]
    assert "chmod" not in calls.get("deny", [])
    for table, keys in tables.items():
        for key, value in keys.items():
            if (table, key) != ("syscalls", "deny"):
                assert set(value) <= set(after[table][key])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("no end", "no end\n"),
        ("x\n", "x\nmore without end"),
        (None, "new\n"),
        ("old\n", None),
        ("a\x0cb\n", "a\x0cc\n"),
    ],
)
def test_patches_are_what_git_applies(
    tmp_path: Path, before: str | None, after: str | None
) -> None:
    file = tmp_path / "d" / "f.txt"
    file.parent.mkdir()
    if before is not None:
        file.write_text(before)
    made = patch([Edit("d/f.txt", before, after)])
    assert touched(made) == {"d/f.txt"}
    done = subprocess.run(
        ["git", "apply", "-p1", "-"], input=made, text=True, cwd=tmp_path, capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + made
    assert (file.read_text() if file.exists() else None) == after


def test_patches_of_the_same_file_do_not_go_together() -> None:
    one, other = patch([Edit("a", "1\n", "2\n")]), patch([Edit("b", "1\n", "2\n")])
    assert patch_conflicts(one, one)
    assert not patch_conflicts(one, other)


def test_a_summary_stays_below_its_limit_and_ends_with_a_whole_line() -> None:
    page = "".join(f"| [{n}](evidence/x.md) | ünïcode |\n" for n in range(60_000))
    made = writing.summary(page, "noop: nothing")
    assert len(made.encode()) <= writing.MAX_SUMMARY
    assert made.startswith("> noop: nothing\n")
    assert made.endswith(writing.NOTE)
    assert "evidence/" not in made


@given(st.text(max_size=200))
def test_words_of_others_stay_in_their_cell(raw: str) -> None:
    for made in (markdown.text(raw), markdown.code(raw)):
        assert "\n" not in made
        assert "|" not in made.replace("\\|", "")


def test_what_can_not_matter_to_a_case_does_not_explain_it() -> None:
    one = campaign(kernel="6.1", versions={"sandbox:gvisor": "1", "skill:other": "a"})
    other = campaign(kernel="6.2", versions={"sandbox:gvisor": "2", "skill:other": "b"})
    assert [change.what for change in of_campaigns(one, other, CASE)] == ["kernel"]
    assert len(of_campaigns(one, other)) == 3


def test_a_change_of_digests_is_reported_shortly() -> None:
    change = Change("policy", "sha256:" + "a" * 64, "sha256:" + "b" * 64)
    assert str(change) == "policy aaaaaaaaaaaa → bbbbbbbbbbbb"


def test_workers_are_given_what_they_would_measure_as_most_do() -> None:
    most = Workbench("a", "6.12", "x86_64", 0, "1", "d" * 64, (("node", "v20"), ("r", ABSENT)))
    poor = most._replace(host="b", interpreters=(("node", ABSENT), ("r", "R 4")))
    old = most._replace(host="c", kernel="5.4")
    ours = (("wardian", "wardian 1"),)
    offers = [Offer(most, ours), Offer(poor, ours), Offer(old, (*ours, ("gvisor", "1")))]
    workbench, sandboxes = common(offers)
    assert (workbench.kernel, dict(workbench.interpreters)) == ("6.12", {"node": "v20", "r": "R 4"})
    assert sandboxes == ("wardian", "gvisor")

    def unit(**interpreters: str) -> Unit:
        named = {f"interpreter:{name}": version for name, version in interpreters.items()}
        return Unit("probes", CASE, {}, {**workbench.depends("wardian"), **named})

    assert [able(one, unit()) for one in offers] == [True, True, False]
    assert [able(one, unit(node="v20")) for one in offers] == [True, False, False]
    assert [able(one, unit(r="R 4")) for one in offers] == [False, True, False]
    elsewhere = unit()._replace(case=CASE._replace(sandbox="gvisor"))
    assert [able(one, elsewhere) for one in offers] == [False, False, False]


def test_refusals_that_well_runs_meet_too_are_no_cause() -> None:
    noise = {"kind": "file", "action": "read", "target": "/etc/x", "reason": "r", "allow": None}
    cause = {
        "kind": "syscall",
        "action": "chmod",
        "target": "chmod(…)",
        "reason": "r",
        "allow": None,
    }

    def result(*refusals: object) -> Measurement:
        outcome = OUTCOME._replace(status="fail", evidence={"refusals": list(refusals)})
        return Measurement(1, CASE, outcome, 1, 0.0, "", "", "")

    assert new_refusals(result(noise, cause), result(noise)) == [restored(cause)]
    assert new_refusals(result(noise, cause), None, {("file", "read", "/etc/x")}) == [
        restored(cause)
    ]
    assert new_refusals(result(noise), None, {("file", "read", "/etc/x")}) == [restored(noise)]
    assert new_refusals(result("syscall chmod chmod(3)"), None)[0].action == "chmod"


WORD = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.builds(
        Refusal, TEXT, TEXT, TEXT, st.builds(Caller, st.just(0), TEXT), TEXT,
        allow=st.none() | st.builds(Allow, TEXT, TEXT),
    )
)  # fmt: skip
def test_a_refusal_is_kept_with_its_remedy_and_read_back(one: Refusal) -> None:
    assert restored(json.loads(json.dumps(stored(one)))) == one


@given(WORD, WORD, st.just("") | WORD)
def test_a_refusal_of_an_earlier_version_is_read_from_its_text(
    kind: str, action: str, target: str
) -> None:
    text = f"{kind} {action} {target}".strip()
    one = restored(text)
    assert (reported(one), one.kind, one.action, one.target) == (text, kind, action, target)


def test_of_a_refusal_only_what_is_the_same_each_time_is_kept() -> None:
    allow = Allow("--allow-syscall chmod", '[syscalls]\nallow = ["chmod"]')
    seen = Refusal("syscall", "chmod", "chmod(3)", Caller(7, "sh -c x"), "why", 3, 0.5, allow)
    again = seen._replace(count=1, time_s=1.0, process=Caller(9, "sh -c x"))
    assert stored(seen) == stored(again)
    assert restored(stored(seen)).allow == allow


def _trouble(kind: str, name: str, sandbox: str, status: str, cause: str) -> Trouble:
    case = CASE._replace(kind=kind, name=name, sandbox=sandbox)
    outcome = OUTCOME._replace(status=status, cause=cause, evidence={})
    return Trouble(Measurement(1, case, outcome, 1, 0.0, "", "", ""), None, "", (), "2026-01-01")


def test_troubles_of_one_cause_are_one_finding_and_the_worst_comes_first() -> None:
    nothing = Comparison(None, (), None, 1, {})
    ones = [
        _trouble("probe", "core__a__one", "gvisor", "error", "/tmp/tmp123/x: can't be set up"),
        _trouble("probe", "core__a__two", "gvisor", "error", "/tmp/tmp456/y: can't be set up"),
        _trouble("probe", "core__a__wall", "wardian", "allowed_unexpected", "should be blocked"),
        _trouble("skill", "s/case", "bubblewrap", "error", "can't be set up"),
        _trouble("skill", "s/case", "wardian", "fail", "exit code 1"),
    ]
    found = findings.findings(ones, nothing, {})
    reported = [(one.severity, len(parts)) for one, parts in found]
    assert reported == [("critical", 1), ("critical", 1), ("low", 2), ("low", 1)]
    assert found[2][0].title == "2 probes gave no outcome in gvisor: error"
    slugs = [one.slug for one, _ in found]
    again = findings.findings(ones[::-1], nothing, {})
    assert [one.slug for one, _ in again] == slugs
