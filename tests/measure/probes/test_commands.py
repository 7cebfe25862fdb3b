"""``wardian probe`` as a person or a program uses it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.measure.probes.conftest import Probe, Tree

pytestmark = pytest.mark.long

COMMANDS = ("list", "run", "all", "diff", "require", "blame")


def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_two_examples(probe: Probe, name: str) -> None:
    done = probe(name, "--help")
    assert done.returncode == 0
    assert done.stdout.count(f"wardian probe {name}") >= 2
    assert "--json" in done.stdout


def test_the_list_shows_id_capability_language_and_path(probe: Probe) -> None:
    document = json.loads(probe("list", "--json").stdout)
    assert document["schema"] == "wardian.probe-list/1"
    found = {one["id"]: one for one in document["probes"]}
    one = found["core__filesystem__tmp_write"]
    assert (one["capability"], one["language"], one["path"]) == (
        "filesystem_tmp_write", "python", "probes/core/filesystem/tmp_write.py",
    )  # fmt: skip
    assert "core__filesystem__tmp_write " in probe("list", "--domain", "filesystem").stdout


def test_a_matrix_shows_capabilities_by_sandbox(tree: Tree, probe: Probe) -> None:
    tree.python("good", "return 'fine'")
    tree.python("hidden", "return open(witness('FILE')).read()")
    tree.python("first", "return 'fine'", capability="filesystem_split")
    tree.python("second", "raise Blocked('no', 'EPERM')", capability="filesystem_split")
    done = probe("all", "--in", "wardian,host", "--probes", str(tree.path))
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["capability", "wardian", "host"]
    assert ["filesystem_good", "yes", "yes"] in [line.split() for line in lines]
    assert ["filesystem_hidden", "NO!", "ENOENT", "yes"] in [line.split() for line in lines]
    assert ["filesystem__second", "NO!", "EPERM", "NO!", "EPERM"] in [
        line.split() for line in lines
    ]
    assert "blocked_unexpected: core__filesystem__hidden in wardian" in done.stdout
    assert "8 measurements" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_junit_counts_failures_errors_and_skips(tree: Tree, probe: Probe, tmp_path: Path) -> None:
    tree.python("good", "return 'fine'")
    tree.python("refused", "raise Blocked('\\x1b]0;<&>\\x07', 'EPERM')")
    tree.python("crash", "os._exit(9)")
    tree.python("asked", "raise Unavailable('gone')")
    report = tmp_path / "report.xml"
    assert probe("all", "--probes", str(tree.path), "--junit", str(report)).returncode == 1
    suite = ElementTree.parse(report).getroot()[0]  # noqa: S314 - our own
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("run", "core__no__such"), 3, "no specimen matches"),
        (("run",), 2, "missing argument"),
        (("all", "--domain", "astrology"), 3, "no domain"),
        (("all", "--in", "astrology"), 2, "no backend"),
        (("all", "--timeout", "soon"), 2, "--timeout"),
        (("all", "--timeout", "none"), 2, "--timeout"),
        (("all", "--jobs", "0"), 2, "--jobs"),
        (("all", "--profile", "nobody"), 125, "no profile"),
        (("all", "--profile", "host=host-user"), 2, "not among"),
        (("all", "--probes", "/nowhere"), 2, "not a directory"),
        (("all", "--policy", "nowhere.toml"), 125, "can't be read"),
        (("diff", "/nowhere", "/nowhere"), 2, "does not exist"),
        (("diff", ".", "."), 125, "holds no artifacts"),
        (("require", "astrology_moon"), 3, "no capability"),
        (("require", "filesystem_tmp_write", "--in", "wardian,host"), 2, "one sandbox"),
        (("blame", "core__no__such"), 3, "no specimen matches"),
        (("blame", "core__filesystem__tmp_write", "--launcher", "/nowhere"), 2, "--launcher"),
        (("astrology",), 2, "no such command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_calls_are_reported_without_a_traceback(
    probe: Probe, args: tuple[str, ...], code: int, message: str
) -> None:
    done = probe(*args)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_diff_shows_flips_and_forgives_what_is_new(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    tree.python("steady", "return 'fine'")
    tree.python("moody", "return 'fine'")
    tree.python("leaving", "return 'fine'")
    tree.python("errno", "raise Blocked('no', 'EPERM')")
    args = ("all", "--probes", str(tree.path))
    probe(*args, "--artifacts", "old")
    assert probe("diff", "old", "old").returncode == 0
    tree.python("moody", "raise Blocked('no', 'EACCES')")
    tree.python("errno", "raise Blocked('no', 'EACCES')")
    tree.python("arriving", "return 'fine'")
    probe(*args, "--artifacts", "new")
    (here(tmp_path) / "new/wardian/core__filesystem__leaving.json").unlink()
    done = probe("diff", "old", "new", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    kinds = {one["id"].rpartition("__")[2]: one["kind"] for one in document["differences"]}
    assert kinds == {
        "moody": "flipped", "leaving": "vanished", "errno": "errno", "arriving": "appeared",
    }  # fmt: skip
    assert document["flips"] == 2
    assert "supported → blocked_unexpected EACCES" in probe("diff", "old", "new").stdout


def test_diff_compares_two_sandboxes_by_what_they_allow(tree: Tree, probe: Probe) -> None:
    tree.python("good", "return 'fine'")
    tree.python("hidden", "return open(witness('FILE')).read()")
    probe("all", "--in", "wardian,host", "--probes", str(tree.path), "--artifacts", "artifacts")
    done = probe("diff", "artifacts/host", "artifacts/wardian", "--json")
    assert [one["id"] for one in json.loads(done.stdout)["differences"]] == [
        "core__filesystem__hidden"
    ]
    assert done.returncode == 1


def test_a_damaged_artifact_stops_diff_with_its_name(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    tree.python("good", "return 'fine'")
    probe("all", "--probes", str(tree.path), "--artifacts", "artifacts")
    shutil.copytree(here(tmp_path) / "artifacts", here(tmp_path) / "old")
    (here(tmp_path) / "artifacts/wardian/core__filesystem__good.json").write_text("{")
    done = probe("diff", "old", "artifacts")
    assert done.returncode == 125
    assert "core__filesystem__good.json: is no artifact" in done.stderr


def test_require_measures_now_or_believes_artifacts(
    tree: Tree, probe: Probe, tmp_path: Path
) -> None:
    tree.python("good", "return 'fine'")
    tree.python("good_too", "return 'fine'", capability="filesystem_good")
    tree.python("hidden", "return open(witness('FILE')).read()")
    tree.python("asked", "raise Unavailable('gone')")
    mine = ("--probes", str(tree.path))
    assert probe("require", "filesystem_good", *mine).returncode == 0
    assert probe("require", "filesystem_hidden", "--in", "host", *mine).returncode == 0
    done = probe("require", "filesystem_good", "filesystem_hidden", *mine)
    assert done.returncode == 1
    assert "no   filesystem_hidden  core__filesystem__hidden: blocked ENOENT" in done.stdout
    assert probe("require", "filesystem_asked", *mine).returncode == 1
    probe("all", *mine, "--artifacts", "artifacts")
    believed = probe(
        "require", "filesystem_good", "filesystem_none", "--from", "artifacts", "--json"
    )
    held = {one["capability"]: one for one in json.loads(believed.stdout)["capabilities"]}
    assert held["filesystem_good"]["holds"]
    assert held["filesystem_none"]["why"] == "was not measured"
    assert believed.returncode == 1


def test_progress_is_shown_on_a_terminal_only(tree: Tree, probe: Probe) -> None:
    tree.python("good", "return 'fine'")
    assert "\r" not in probe("all", "--probes", str(tree.path)).stderr


def test_what_a_specimen_says_can_not_command_the_terminal(tree: Tree, probe: Probe) -> None:
    tree.python("nasty", "raise Blocked('\\x1b]0;owned\\x07\\x9b31m', 'EPERM')")
    done = probe("run", "*", "--probes", str(tree.path))
    assert "owned" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
