"""A script that writes beside itself: its skill stays as it is, unless the caller wants it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.skill_folders import MakeSkill, write_skill

WRITES = """
import os, pathlib
here = pathlib.Path(__file__).parent
(here / "cache.txt").write_text("cached")
(here.parent / "data.txt").write_text("new")
(here.parent / "old.txt").unlink()
(here.parent / "deep" / "er").mkdir(parents=True)
(here.parent / "deep" / "er" / "made").write_text("made")
pathlib.Path("/work/result").write_text("done")
print((here / "cache.txt").read_text())
"""
FILES = {"scripts/w.py": WRITES, "data.txt": "first", "old.txt": "old", "same.txt": "same"}


def seen(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_what_is_written_in_a_skill_vanishes(wardian: Wardian, make_skill: MakeSkill) -> None:
    skill = make_skill(FILES)
    before = seen(skill)
    for _ in range(2):
        done = wardian("run", skill, "w.py")
        assert (done.returncode, done.stdout) == (0, "cached\n"), done.stderr
    assert seen(skill) == before


def test_a_skill_shared_for_writing_changes(wardian: Wardian, make_skill: MakeSkill) -> None:
    skill = make_skill(FILES)
    done = wardian("run", skill, "w.py", "--write", f"{skill}:/skill")
    assert done.returncode == 0, done.stderr
    after = seen(skill)
    assert (after["data.txt"], after["scripts/cache.txt"]) == ("new", "cached")
    assert "old.txt" not in after


def test_out_keeps_what_changed_and_nothing_else(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    skill, out = make_skill(FILES), tmp_path / "out"
    before = seen(skill)
    done = wardian("run", skill, "w.py", "--out", out, "--json")
    kept = {
        "result": "done",
        "skill/data.txt": "new",
        "skill/deep/er/made": "made",
        "skill/scripts/cache.txt": "cached",
    }
    assert seen(out) == kept
    assert [one["path"] for one in json.loads(done.stdout)["files"]] == list(kept)
    assert seen(skill) == before


def test_a_run_that_changes_nothing_in_its_skill_keeps_no_folder_of_it(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    skill = make_skill(
        {"scripts/w.sh": "#!/bin/sh\necho x > result; touch -r /skill/a /skill/a\n", "a": ""}
    )
    wardian("run", skill, "w.sh", "--out", tmp_path / "out")
    assert set(seen(tmp_path / "out")) <= {"result", "skill/a"}
    assert "result" in seen(tmp_path / "out")


def test_a_skill_of_the_runs_own_is_told_apart(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path
) -> None:
    code = "#!/bin/sh\nmkdir /work/skill; echo own > /work/skill/x; echo changed > /skill/x\n"
    wardian("run", make_skill({"scripts/w.sh": code}), "w.sh", "--out", tmp_path / "out")
    assert seen(tmp_path / "out") == {"skill/x": "own\n", "skill.changed/x": "changed\n"}


@pytest.mark.parametrize("out", [False, True])
def test_no_link_leads_out_of_a_skill(
    wardian: Wardian, make_skill: MakeSkill, tmp_path: Path, out: bool
) -> None:
    """Neither one that the author left, on the way in, nor one that the guest made, on the way
    out: a file beyond it would be read with the caller's rights."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("what-lies-outside")
    code = (
        "#!/bin/sh\ncat /skill/author/key /skill/key; ls -R /skill\n"
        f"ln -s {secret} /skill/guest; ln -s {secret}/key /skill/file\n"
        f"ln -sfn {secret} /work/skill\n"
        "rm -r /skill/data; ln -s /etc /skill/data; echo fine > /skill/made\n"
    )
    skill = make_skill({"scripts/w.sh": code, "data/x": "x"})
    (skill / "author").symlink_to(secret)
    (skill / "key").symlink_to(secret / "key")
    options = ["--out", tmp_path / "out"] if out else []
    done = wardian("run", skill, "w.sh", *options)
    assert "what-lies-outside" not in done.stdout + done.stderr
    if out:
        assert seen(tmp_path / "out") == {"skill.changed/made": "fine\n"}
        assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    assert seen(secret) == {"key": "what-lies-outside"}


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin with one skill, in a clone."""
    top = tmp_path / "clone"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "config").write_text("what-lies-outside")
    (top / ".claude-plugin").mkdir()
    (top / ".claude-plugin" / "plugin.json").write_text('{"name": "kit"}')
    write_skill(top / "skills" / "demo", FILES)
    return top


BOTH = """cd $SKILL_DIR && pwd
echo 1 > /skill/a; echo 2 > /plugin/skills/demo/b; mkdir /plugin/new; echo 3 > /plugin/new/c
cat a b /skill/b /plugin/skills/demo/a; rm /skill/old.txt; ls /plugin/skills/demo /plugin/new
mv /plugin/.git /plugin/got; cat /plugin/.git/config /plugin/got/config; true"""


def test_a_skill_and_its_plugin_are_one_copy(wardian: Wardian, plugin: Path) -> None:
    """What is changed at one place is changed at the other; what is masked stays masked."""
    before = seen(plugin)
    done = wardian("exec", "--skill", plugin / "skills" / "demo", "--", "sh", "-c", BOTH)
    names = "/plugin/new:\nc\n\n/plugin/skills/demo:\nSKILL.md\na\nb\ndata.txt\nsame.txt\nscripts\n"
    assert done.stdout == f"/plugin/skills/demo\n1\n2\n2\n1\n{names}", done.stderr
    assert "what-lies-outside" not in done.stdout
    assert seen(plugin) == before


def test_what_is_placed_below_a_skill_is_in_its_plugin(wardian: Wardian, plugin: Path) -> None:
    skill, other = plugin / "skills" / "demo", plugin.parent / "other"
    other.write_text("other")
    done = wardian(
        "exec", "--skill", skill, "--read", f"{other}:/skill/data.txt",
        "--", "cat", "/skill/data.txt", "/plugin/skills/demo/data.txt",
    )  # fmt: skip
    assert done.stdout == "otherother", done.stderr


@pytest.mark.parametrize("place", ["skill", "plugin"])
def test_what_is_shared_for_writing_is_written_at_both_places(
    wardian: Wardian, plugin: Path, place: str
) -> None:
    skill = plugin / "skills" / "demo"
    shared = {"skill": f"{skill}:/skill", "plugin": f"{plugin}:/plugin"}[place]
    line = "cd $SKILL_DIR; echo 1 > a; cat /skill/a /plugin/skills/demo/a; echo 2 > /skill/b"
    done = wardian("exec", "--skill", skill, "--write", shared, "--", "sh", "-c", line)
    assert done.stdout == "1\n1\n", done.stderr
    assert (seen(skill)["a"], seen(skill)["b"]) == ("1\n", "2\n")


def test_out_keeps_what_changed_in_a_plugins_skill(
    wardian: Wardian, plugin: Path, tmp_path: Path
) -> None:
    before = seen(plugin)
    done = wardian("run", plugin / "skills" / "demo", "w.py", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert seen(tmp_path / "out")["skill/scripts/cache.txt"] == "cached"
    assert seen(plugin) == before
