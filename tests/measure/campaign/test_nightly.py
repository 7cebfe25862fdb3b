"""``wardian nightly``, end to end: what is planted is found, ranked, explained, and mended."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.command import Wardian
from tests.measure.campaign.scene import KEEP, PROFILE, Scene

pytestmark = pytest.mark.long


@pytest.fixture
def scene(tmp_path: Path, wardian: Wardian) -> Scene:
    root = tmp_path / "scene"
    root.mkdir()
    return Scene(root, wardian)


def worst(document: dict[str, Any]) -> dict[str, Any]:
    finding: dict[str, Any] = document["findings"][0]
    return finding


def test_an_unchanged_night_is_used_again_and_says_since_when(scene: Scene) -> None:
    first = scene.night("2026-01-01")
    assert first["headline"] == "first campaign; 0 findings"
    assert {one["health"] for one in first["results"]} <= {"good", "absent"}
    assert scene.decision()["action"] == "noop"
    assert "Stable since" not in scene.page("EVALUATION_2026-01-01.md")
    second = scene.night("2026-01-02")
    assert second["unchanged"]
    assert second["stable_since"] == "2026-01-01"
    figures = {(one["name"], one["sandbox"]): one["value"] for one in second["figures"]}
    assert figures["campaign.measured", ""] == 0
    assert figures["campaign.reused", ""] == len(second["results"]) == len(first["results"])
    page = scene.page("EVALUATION_2026-01-02.md")
    assert "Stable since 2026-01-01" in page
    assert len(page) < len(scene.page("EVALUATION_2026-01-01.md"))
    assert scene.decision()["reason"].startswith("unchanged since 2026-01-01")


def test_a_call_denied_by_the_policy_is_found_ranked_explained_and_mended(scene: Scene) -> None:
    scene.night("2026-01-01")
    policy = '[limits]\ntime = "60s"\n\n[syscalls]\ndeny = ["chmod", "fchmodat"]\n'
    scene.put("policy.toml", policy)
    document = scene.night("2026-01-02")
    finding = worst(document)
    assert finding["severity"] == "critical"
    assert re.search(r"wardian refuses f?chmod(at)?: keeper fails", finding["title"])
    reported = finding["document"]
    assert reported["skills"] == ["keeper"]
    assert reported["wall"] == "the syscall filter"
    assert [change["what"] for change in reported["changes"]] == ["policy"]
    names = {case["name"] for case in reported["cases"]}
    assert {"keeper/a note is kept", "core__demo__chmod"} <= names
    assert reported["proposal"]["verified"]
    assert reported["proposal"]["what"] == "policy"
    decision = scene.decision()
    assert decision["action"] == "pull-request"
    assert "keeper" in decision["title"]
    assert (scene.root / "out" / "patches" / f"{finding['slug']}.patch").read_text()

    scene.apply(decision["patch"])
    mended = scene.night("2026-01-03")
    assert not mended["findings"]
    assert {one["kind"] for one in mended["differences"]} == {"recovered"}


def test_without_a_policy_file_one_is_proposed_and_named(scene: Scene) -> None:
    clock = "import ctypes; r = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))"
    scene.put("skills/keeper/scripts/keep.py", f"{clock}\nassert r >= 0\n{KEEP}")
    text = (scene.root / "nightly.toml").read_text().replace('policy = "policy.toml"\n', "")
    scene.put("nightly.toml", text)
    (scene.root / "policy.toml").unlink()
    finding = worst(scene.night("2026-01-01"))
    assert finding["severity"] == "critical"
    assert finding["document"]["skills"] == ["keeper"]
    assert finding["document"]["proposal"]["verified"]
    scene.apply(scene.decision()["patch"])
    assert (scene.root / "nightly.toml").read_text() == f'policy = "policy.toml"\n{text}'
    assert "adjtime" in (scene.root / "policy.toml").read_text()
    assert not scene.night("2026-01-02")["findings"]


def test_the_rest_of_a_policy_stays_as_it_is_when_one_call_is_mended(scene: Scene) -> None:
    scene.night("2026-01-01")
    scene.put(
        "policy.toml",
        '# mine\n[syscalls]\ndeny = [\n  "chmod",\n  "mlock",  # not needed\n]\n'
        '\n[limits]\ntime = "50s"\n',
    )
    scene.night("2026-01-02")
    scene.apply(scene.decision()["patch"])
    text = (scene.root / "policy.toml").read_text()
    assert text == '# mine\n[syscalls]\ndeny = ["mlock"]\n\n[limits]\ntime = "50s"\n'


def test_a_wall_that_falls_is_critical_and_the_policy_is_what_changed(scene: Scene) -> None:
    port = "int(os.environ['PROBE_HOST_PORT'])"
    body = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5).close()"
    scene.probe("host_port", "The host's ports are out of reach.", body)
    entry = '\n[specimen.core__demo__host_port]\nexpect = "blocked"\nreason = "no way out"\n'
    scene.put("profile.toml", PROFILE + entry)
    scene.night("2026-01-01")
    before = (scene.root / "policy.toml").read_text()
    scene.put("policy.toml", before + '\n[network]\nmode = "host"\n')
    document = scene.night("2026-01-02")
    finding = worst(document)
    assert finding["severity"] == "critical"
    assert "core__demo__host_port is allowed in wardian and should be blocked" in finding["title"]
    assert "policy" in finding["cause"]
    assert finding["document"]["proposal"]["verified"]
    scene.apply(scene.decision()["patch"])
    assert (scene.root / "policy.toml").read_text() == before
    assert not scene.night("2026-01-03")["findings"]


def test_a_probe_flipped_by_what_is_expected_is_explained_by_that(scene: Scene) -> None:
    scene.night("2026-01-01")
    flipped = PROFILE.replace(
        'expect = "allowed"\nreason = "its own loopback"',
        'expect = "blocked"\nreason = "no network at all"',
    )
    scene.put("profile.toml", flipped)
    document = scene.night("2026-01-02")
    finding = worst(document)
    assert [change["what"] for change in finding["document"]["changes"]] == ["expectation"]
    (case,) = finding["document"]["cases"]
    assert (case["before"], case["status"]) == ("supported", "allowed_unexpected")
    assert finding["document"]["proposal"]["what"] == "expectation"
    assert finding["document"]["proposal"]["verified"]
    scene.apply(scene.decision()["patch"])
    assert (scene.root / "profile.toml").read_text() == PROFILE
    assert not scene.night("2026-01-03")["findings"]


def test_a_specimen_that_was_broken_is_explained_by_its_own_change(scene: Scene) -> None:
    scene.night("2026-01-01")
    source = (scene.root / "probes/core/demo/hostname.py").read_text()
    scene.probe("hostname", "The host has a name.", "raise PermissionError(1, 'no', 'x')")
    finding = worst(scene.night("2026-01-02"))
    assert "specimen" in [change["what"] for change in finding["document"]["changes"]]
    assert finding["document"]["proposal"]["verified"]
    scene.apply(scene.decision()["patch"])
    assert (scene.root / "probes/core/demo/hostname.py").read_text() == source


def test_a_skill_broken_by_its_own_change_differs_from_one_that_a_wall_breaks(
    scene: Scene,
) -> None:
    scene.night("2026-01-01")
    scene.put("skills/keeper/scripts/keep.py", KEEP.replace('print("kept")', 'print("lost")'))
    document = scene.night("2026-01-02")
    finding = worst(document)
    assert finding["title"] == "the skill keeper fails, also without a sandbox"
    assert finding["severity"] == "high"
    assert "skill" in [change["what"] for change in finding["document"]["changes"]]
    assert "stdout" in finding["cause"]
    assert not [one for one in document["differences"] if one["case"][1].startswith("shout")]
    scene.apply(scene.decision()["patch"])
    assert (scene.root / "skills/keeper/scripts/keep.py").read_text() == KEEP
    assert not scene.night("2026-01-03")["findings"]


def test_what_was_said_is_not_said_again_and_an_open_pull_request_gets_a_comment(
    scene: Scene,
) -> None:
    scene.night("2026-01-01")
    scene.put("policy.toml", '[syscalls]\ndeny = ["chmod", "fchmodat"]\n')
    scene.night("2026-01-02", "--open-pr", "41")
    decision = scene.decision()
    assert (decision["action"], decision["target"]) == ("comment", 41)
    assert decision["patch"] == ""
    assert "chmod" in decision["body"]
    again = scene.night("2026-01-03")
    assert again["findings"]
    assert scene.decision()["action"] == "noop"
    assert "the same" in scene.decision()["reason"]


def test_findings_that_nothing_mends_become_an_issue(scene: Scene) -> None:
    scene.put("skills/keeper/scripts/keep.py", "raise SystemExit(3)\n")
    document = scene.night("2026-01-01")
    assert document["findings"]
    assert scene.decision()["action"] == "issue"
    scene_again = scene.night("2026-01-02", "--open-issue", "7")
    assert scene_again["findings"]
    assert scene.decision()["action"] == "noop"


def test_suites_are_measured_beside_the_host(scene: Scene) -> None:
    scene.put("outside.txt", "here")
    for name, body in (("same_test", "exit 0"), ("lost_test", f"test -e {scene.root}/outside.txt")):
        scene.put(f"suites/{name}", f"#!/bin/sh\n{body}\n")
        (scene.root / "suites" / name).chmod(0o755)
    text = (scene.root / "nightly.toml").read_text()
    scene.put("nightly.toml", 'suites = ["suites"]\n' + text)
    document = scene.night("2026-01-01", "--only", "suites,findings,documents")
    reported = {(r["name"], r["sandbox"]): r["status"] for r in document["results"]}
    assert (
        reported["same_test:(program)", "wardian"]
        == reported["lost_test:(program)", "host"]
        == "pass"
    )
    assert reported["lost_test:(program)", "wardian"] == "fail"
    (finding,) = document["findings"]
    assert finding["title"] == "lost_test: 1 case does not pass in wardian"
    assert finding["severity"] == "medium"
    again = scene.night("2026-01-02", "--only", "suites,findings,documents")
    assert {one["measured_in"] for one in again["results"]} == {document["campaign"]["uid"]}


def test_a_budget_is_spent_on_what_matters_first_and_the_rest_comes_with_resume(
    scene: Scene,
) -> None:
    done = scene.run("--date", "2026-01-01", "--budget", "10ms", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    partial = json.loads(scene.page("evaluation.json"))
    assert partial["campaign"]["state"] == "partial"
    assert len(partial["results"]) <= 1
    assert all(one["sandbox"] == "wardian" for one in partial["results"])
    assert "within the budget" in scene.page("EVALUATION_2026-01-01.md")
    whole = scene.night("2026-01-01", "--resume")
    assert whole["campaign"]["state"] == "finished"
    assert whole["campaign"]["uid"] == partial["campaign"]["uid"]
    assert len(whole["results"]) == 3 * 2 + 3 * 2 + 3


def test_what_fails_now_and_then_is_reported_and_is_no_finding(scene: Scene) -> None:
    mark = scene.root / "tried"
    body = f"p = {str(mark)!r}; seen = os.path.exists(p); open(p, 'w').close(); 1 / seen"
    scene.probe("now_and_then", "It works the second time.", body)
    scene.put("nightly.toml", (scene.root / "nightly.toml").read_text().replace('"wardian", ', ""))
    document = scene.night("2026-01-01")
    assert not document["findings"]
    page = scene.page("EVALUATION_2026-01-01.md")
    assert "only at the second try: `core__demo__now_and_then` in host" in page


def test_with_nothing_to_go_on_with_resume_is_3(scene: Scene) -> None:
    assert scene.run("--resume").returncode == 3


def test_shards_merged_are_a_whole(scene: Scene, wardian: Wardian) -> None:
    whole = scene.night("2026-01-01")
    names = []
    for number in (1, 2, 3):
        names.append(f"shard-{number}.sqlite")
        done = wardian(
            "nightly", *scene.named, "--store", names[-1], "-o", f"out-{number}",
            "--shard", f"{number}/3", "--campaign", "run-1", "--date", "2026-01-02", cwd=scene.root,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = wardian("history", "merge", *names, "--store", "all.sqlite", cwd=scene.root)
    assert done.returncode == 0, done.stderr
    done = wardian(
        "nightly", *scene.named, "--store", "all.sqlite", "-o", "whole",
        "--only", "findings,documents", cwd=scene.root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    joined = json.loads((scene.root / "whole/evaluation.json").read_text())
    assert joined["campaign"]["night"] == "2026-01-02"
    assert len(joined["results"]) == len(whole["results"])
    done = wardian(
        "nightly",
        *scene.named,
        "--store",
        "all.sqlite",
        "-o",
        "out",
        "--date",
        "2026-01-03",
        cwd=scene.root,
    )
    assert done.returncode == 0, done.stderr
    merged = json.loads(scene.page("evaluation.json"))
    figures = {one["name"]: one["value"] for one in merged["figures"] if not one["sandbox"]}
    assert figures["campaign.measured"] == 0
    assert merged["unchanged"]
    assert {(r["kind"], r["name"], r["sandbox"], r["status"]) for r in merged["results"]} == {
        (r["kind"], r["name"], r["sandbox"], r["status"]) for r in whole["results"]
    }


def test_one_step_can_be_run_alone(scene: Scene) -> None:
    document = scene.night("2026-01-01", "--only", "skills,findings,documents")
    assert {one["kind"] for one in document["results"]} == {"skill"}
    assert scene.run("--only", "sweeping").returncode == 2
    (scene.root / "out/evaluation.json").unlink()
    again = scene.night("2026-01-02", "--only", "documents")
    assert again["campaign"] == document["campaign"]
    assert again["results"] == document["results"]


# What is written


def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(scene: Scene) -> None:
    scene.put("policy.toml", '[syscalls]\ndeny = ["chmod", "fchmodat"]\n')
    scene.night("2026-01-01")
    out = scene.root / "out"
    pages = sorted(out.rglob("*.md"))
    assert len(pages) >= 8
    for page in pages:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", page.read_text()):
            if "://" in target:
                continue
            place = (page.parent / target) if target else page
            assert place.exists(), (page.name, target)
            if anchor:
                assert f"\n## {anchor[1:]}\n" in place.read_text(), (page.name, target, anchor)


def test_the_junit_file_counts_what_the_evaluation_counts(scene: Scene) -> None:
    scene.put("policy.toml", '[syscalls]\ndeny = ["chmod", "fchmodat"]\n')
    document = scene.night("2026-01-01")
    suites = ET.fromstring(scene.page("junit.xml")).findall("testsuite")  # noqa: S314
    counted = [one for one in document["results"] if one["kind"] != "trace"]
    assert sum(int(one.attrib["tests"]) for one in suites) == len(counted)
    bad = sum(one["health"] == "bad" for one in counted)
    assert sum(int(one.attrib["failures"]) for one in suites) == bad > 0


def test_a_wrong_configuration_is_pointed_at(scene: Scene) -> None:
    scene.put("nightly.toml", 'skills = ["skills"]\nsandboxs = ["wardian"]\n')
    done = scene.run()
    assert done.returncode == 2
    assert "nightly.toml:2:1: there is no 'sandboxs'" in done.stderr
    assert "did you mean" in done.stderr
    assert not (scene.root / "out").exists()
