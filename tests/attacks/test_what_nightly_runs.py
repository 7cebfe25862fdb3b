"""What `wardian nightly` and its kin run on the bare host, and what a file that was only found may
ask for: nothing that does not ship with wardian, and nothing that there is not without it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

from tests.command import Wardian, call, environment
from wardian.errors import UsageError
from wardian.measure.campaign.config import ConfigError, read_config
from wardian.measure.campaign.performing import perform
from wardian.measure.campaign.plan import policy_of_config, prepare
from wardian.measure.campaign.units import of_skills
from wardian.measure.campaign.workbench import here
from wardian.measure.findings.proposal import of_policy
from wardian.measure.findings.proposals import tried
from wardian.measure.findings.reverting import _put, _skill_reverted
from wardian.measure.history.changes import Change
from wardian.measure.skills.inventory import inventory, sources
from wardian.sandbox.policy.policy import Policy, Share

pytestmark = pytest.mark.long

PROBE = """\
\"\"\"It leaves a mark where it can.\"\"\"
CAPABILITY = "demo_mark"
open({mark!r}, "w").close()
"""
MARKER = """\
#!/bin/sh
touch {mark} 2>/dev/null
echo done
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory with a skill whose script leaves a mark outside, if it can."""
    folder = tmp_path / "place"
    skill = folder / "skills/marker"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: marker\ndescription: Marks.\n---\n\nMark.\n")
    script = skill / "scripts/mark.sh"
    script.write_text(MARKER.format(mark=tmp_path / "mark"))
    script.chmod(0o755)
    (skill / "cases.toml").write_text("[[case]]\nname = 'one'\nscript = 'mark.sh'\n")
    probe = folder / "own/core/demo/mark.py"
    probe.parent.mkdir(parents=True)
    probe.write_text(PROBE.format(mark=str(tmp_path / "mark")))
    tests = folder / "tests"
    tests.mkdir()
    (tests / "one").write_text(MARKER.format(mark=tmp_path / "mark"))
    (tests / "one").chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@pytest.fixture
def wardian() -> Wardian:
    def run(*args: str, cwd: Path) -> CompletedProcess[str]:
        return call(*args, cwd=cwd, env=environment())

    return run


@pytest.fixture
def nightly(place: Path, wardian: Wardian) -> Callable[..., CompletedProcess[str]]:
    """A nightly of the skills alone, in the place."""

    def run(*args: str) -> CompletedProcess[str]:
        return wardian("nightly", "--store", "../store.sqlite", "-o", "../out", *args, cwd=place)

    return run


def sandboxes_of(out: Path) -> set[str]:
    document: dict[str, Any] = json.loads((out / "evaluation.json").read_text())
    return {one["sandbox"] for one in document["results"] if one["kind"] == "skill"}


# The bare host


def test_a_skill_runs_on_the_bare_host_only_if_that_is_named(
    nightly: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    done = nightly("--only", "skills,documents")
    assert done.returncode in (0, 1), done.stderr
    assert "wardian" in sandboxes_of(tmp_path / "out")
    assert "host" not in sandboxes_of(tmp_path / "out")
    assert not (tmp_path / "mark").exists()
    done = nightly("--only", "skills,documents", "--in", "wardian,host")
    assert done.returncode in (0, 1), done.stderr
    assert sandboxes_of(tmp_path / "out") == {"wardian", "host"}
    assert (tmp_path / "mark").exists()


def test_a_file_that_is_named_does_not_name_the_bare_host_for_skills_and_suites_and_own_specimens(
    place: Path,
) -> None:
    (place / "mine.toml").write_text(
        'sandboxes = ["wardian", "host"]\nprobes = "own"\nsuites = ["tests"]\n'
    )
    prepared = prepare(read_config("mine.toml"))
    assert {one.case.kind for one in prepared.units} == {"probe", "skill", "trace", "suite"}
    assert {one.case.sandbox for one in prepared.units} == {"wardian"}
    named = prepare(read_config("mine.toml")._replace(host_named=True))
    assert {one.case.kind for one in named.units if one.case.sandbox == "host"} == {
        "probe", "skill", "suite",
    }  # fmt: skip


def test_what_ships_with_wardian_is_measured_on_the_bare_host_as_the_oracle(place: Path) -> None:
    config = read_config(None)._replace(select=("core__filesystem__tmp_write",))
    places = {one.case.sandbox for one in prepare(config).units if one.case.kind == "probe"}
    assert {"wardian", "host"} <= places


@pytest.mark.parametrize("kind", ["skill", "probe", "suite"])
def test_a_unit_that_somebody_else_made_does_not_run_on_the_bare_host_either(
    place: Path, tmp_path: Path, kind: str
) -> None:
    (place / "mine.toml").write_text('sandboxes = ["host"]\nprobes = "own"\nsuites = ["tests"]\n')
    config = read_config("mine.toml")._replace(host_named=True)
    unit = next(one for one in prepare(config).units if one.case.kind == kind)
    bare = {key: value for key, value in unit.payload.items() if key != "host_named"}
    produced = perform(unit._replace(payload=bare))
    assert [one.outcome.status for one in produced] == ["error"]
    assert "bare host" in produced[0].outcome.cause
    assert not (tmp_path / "mark").exists()
    perform(unit)
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "command", [("syscalls", "coverage", "--no-use"), ("probe", "blame", "demo_mark")]
)
def test_own_specimens_are_not_run_on_the_bare_host_by_default(
    place: Path, tmp_path: Path, wardian: Wardian, command: tuple[str, ...]
) -> None:
    call = place / "own/core/syscall/one.py"
    call.parent.mkdir()
    text = PROBE.format(mark=str(tmp_path / "mark"))
    call.write_text(text.replace("demo_mark", "syscall_getpid"))
    wardian(*command, "--probes", "own", cwd=place)
    assert not (tmp_path / "mark").exists()
    wardian("probe", "run", "demo_mark", "--probes", "own", "--in", "host", cwd=place)
    assert (tmp_path / "mark").exists()


# A file that was found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('sandboxes = ["host"]', "bare host"),
        ('sandboxes = ["wardian", "host"]', "bare host"),
        ('probes = "own"', "specimens"),
        ('suites = ["tests"]', "test programs"),
        ('[profiles]\nwardian = "host"', "profile"),
        ('skills = ["/etc"]', "elsewhere"),
        ('skills = [".."]', "elsewhere"),
        ('skills = ["out"]', "elsewhere"),
        ('policy = "../wide.toml"', "elsewhere"),
        ('policy = "/etc/x.toml"', "elsewhere"),
        ('timeout = "1h"', "longer"),
        ("jobs = 10000", "usual"),
        ('title = "a\\nb"', "title"),
    ],
)
def test_a_file_that_was_found_adds_nothing(place: Path, text: str, why: str) -> None:
    (place / "out").symlink_to("/usr/share")
    (place / "nightly.toml").write_text(text + "\n")
    with pytest.raises(ConfigError, match=why) as caught:
        read_config(None)
    assert (caught.value.exit_code, bool(caught.value.hint) or "title" in text) == (2, True)
    assert re.search(r"nightly\.toml:\d+:\d+: ", str(caught.value))


@pytest.mark.parametrize(
    "policy",
    [
        '[network]\nmode = "host"', '[files]\nread = ["/etc"]', '[limits]\nmemory = "64G"',
        '[syscalls]\nallow = ["mount"]', '[environment]\npass = ["AWS_SECRET"]',
        '[files]\nwrite = ["/var"]', '[protections]\ndegrade = ["notify"]',
    ],
)  # fmt: skip
def test_a_file_that_was_found_names_no_wider_policy(place: Path, policy: str) -> None:
    (place / "p.toml").write_text(policy + "\n")
    (place / "nightly.toml").write_text('policy = "p.toml"\n')
    with pytest.raises(ConfigError, match="allows more") as caught:
        policy_of_config(read_config(None))
    assert caught.value.exit_code == 2
    (place / "p.toml").write_text('[limits]\ntime = "5s"\n')
    assert policy_of_config(read_config(None)).limits.time_s == 5


def test_a_preset_that_is_wider_is_not_taken_from_a_file_that_was_found(place: Path) -> None:
    (place / "nightly.toml").write_text('policy = "conformance"\n')
    with pytest.raises(ConfigError):
        policy_of_config(read_config(None))
    policy_of_config(read_config("nightly.toml"))


def test_a_file_that_was_found_may_narrow(place: Path) -> None:
    (place / "nightly.toml").write_text(
        'sandboxes = ["wardian"]\nselect = ["core__time__*"]\ntimeout = "5s"\nbudget = "1m"\n'
        'jobs = 1\nskills = ["skills/marker"]\ntitle = "[ours]"\n'
    )
    config = read_config(None)
    assert (config.sandboxes, config.timeout_s, config.jobs) == (("wardian",), 5.0, 1)
    assert config.found
    assert not read_config("nightly.toml").found


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "huge", "folder", "nested", "number"])
def test_a_file_that_is_no_ordinary_one_ends_at_once(
    nightly: Callable[..., CompletedProcess[str]], place: Path, tmp_path: Path, kind: str
) -> None:
    file = place / "nightly.toml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        (tmp_path / "secret").write_text("private")
        file.symlink_to(tmp_path / "secret")
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "huge":
        file.touch()
        os.truncate(file, 1 << 40)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text("x = " + ("[" * 100_000 if kind == "nested" else "9" * 100_000))
    done = nightly()
    assert done.returncode == 2, done.stderr
    assert "nightly.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert "private" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_skills_that_are_a_link_to_elsewhere_are_not_taken(place: Path, tmp_path: Path) -> None:
    (place / "skills").rename(tmp_path / "moved")
    (place / "skills").symlink_to(tmp_path / "moved")
    with pytest.raises(ConfigError, match="leads to"):
        read_config(None)


# Proposals


def test_to_be_refused_something_does_not_get_it_for_a_skill(place: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("private")
    script = place / "skills/marker/scripts/mark.sh"
    script.write_text(f"#!/bin/sh\ncat {secret} || exit 1\n")
    policy = Policy.default()
    entries = inventory([str(place / "skills")])
    (unit,) = of_skills(entries, policy, {"wardian": policy.digest}, here(), traced=False)
    wider = policy.with_shares([Share(str(secret), str(secret))])
    candidate = of_policy("let it read", [], wider, policy)
    found = tried(candidate, [unit])
    assert (found.outcomes, found.mends, found.skipped) == ((), False, 1)
    assert tried(candidate, [unit], try_wider=True).mends
    narrower = policy.with_limits(time_s=5)
    assert tried(of_policy("less time", [], narrower, policy), [unit]).outcomes


@pytest.mark.parametrize("path", ["out/x", "../x", "/tmp/x"])
@pytest.mark.parametrize("text", ["new", None])
def test_what_is_taken_back_is_not_written_through_a_link_of_the_skill(
    tmp_path: Path, path: str, text: str | None
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    for victim in (outside / "x", tmp_path / "x"):
        victim.write_text("the caller's")
    (root / "out").symlink_to(outside)
    (root / "link").symlink_to(outside / "x")
    with pytest.raises((OSError, UsageError)):
        _put(str(root), path, text)
    _put(str(root), "link", text)
    assert (outside / "x").read_text() == (tmp_path / "x").read_text() == "the caller's"
    _put(str(root), "in/x", "new")
    assert (root / "in/x").read_text() == "new"


def test_a_skill_with_links_out_is_taken_back_in_its_copy_alone(place: Path) -> None:
    skill, outside = place / "skills/marker", place / "outside"
    outside.mkdir()
    (outside / "x").write_text("the caller's")
    before = sources(str(skill))
    assert before is not None
    script = before["scripts/mark.sh"]
    (skill / "scripts/mark.sh").unlink()
    (skill / "scripts").rmdir()
    (skill / "scripts").symlink_to(outside)  # what is taken back would be written through it
    store, change = SimpleNamespace(sources=lambda version: before), Change("skill", "old", "new")
    prepared = SimpleNamespace(entries=inventory([str(place / "skills")]))
    (candidate,) = _skill_reverted(change, "marker", prepared, store)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="scripts"), candidate.given():
        pass
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"x": "the caller's"}
    # Without the link it is taken back, and the skill itself stays as it is.
    (skill / "scripts").unlink()
    (candidate,) = _skill_reverted(change, "marker", prepared, store)  # type: ignore[arg-type]
    with candidate.given() as given:
        unit = SimpleNamespace(case=SimpleNamespace(group="marker"))
        assert Path(given(unit)["skill"], "scripts/mark.sh").read_text() == script
    assert not (skill / "scripts").exists()


# Where only the bare host works


def test_where_only_the_host_works_skills_and_suites_are_reported_as_skipped(
    place: Path, tmp_path: Path, nightly: Callable[..., CompletedProcess[str]]
) -> None:
    (place / "mine.toml").write_text('sandboxes = ["host"]\nsuites = ["tests"]\n')
    only = ("--config", "mine.toml", "--only", "skills,suites,documents")
    done = nightly(*only, "--json")
    assert done.returncode in (0, 1), done.stderr
    skipped = {one["step"]: one["why"] for one in json.loads(done.stdout)["skipped"]}
    assert set(skipped) == {"skills", "suites"}
    assert all("1 skipped" in why and "--in host" in why for why in skipped.values())
    written = json.loads(done.stdout)["files"]
    told = "".join((place / one).read_text() for one in written if one.endswith(".md"))
    assert "skills: 1 skipped" in told
    assert "skills: 1 skipped" in nightly(*only).stderr
    assert not (tmp_path / "mark").exists()
    done = nightly(*only, "--in", "host", "--json")
    assert json.loads(done.stdout)["skipped"] == []
    assert (tmp_path / "mark").exists()
