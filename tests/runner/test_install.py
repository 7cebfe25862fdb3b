"""``wardian new`` and ``wardian install``: skills made, and put where agents look."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.command import call
from tests.skill_folders import write_skill

SECRET = "the-callers-secret"


class Scene:
    """A home, a project to stand in, and a skill to install."""

    def __init__(self, top: Path) -> None:
        self.home, self.here = top / "home", top / "here"
        self.home.mkdir()
        self.here.mkdir()
        self.skill = write_skill(top / "src" / "one", {"scripts/a.py": "print('hi')\n"})
        self.installed = self.home / ".agents" / "skills" / "one"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WARDIAN_"))}
        self.env = kept | {"HOME": str(self.home), "LC_ALL": "C.UTF-8"}

    def wardian(self, *args: object, code: int = 0) -> str:
        done = call(*args, cwd=self.here, env=self.env)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    def left(self) -> list[str]:
        """What lies in the folder of skills, hidden or not."""
        root = self.installed.parent
        return sorted(os.listdir(root)) if root.exists() else []


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_new_skill_passes_check_and_test_and_is_never_overwritten(scene: Scene) -> None:
    made = json.loads(scene.wardian("new", "my-skill", "--json"))
    assert "SECURITY.md" in made["files"]
    scene.wardian("check", "--strict", "my-skill")
    scene.wardian("test", "my-skill")
    (scene.here / "my-skill" / "SKILL.md").write_text("mine")
    scene.wardian("new", "my-skill", code=2)
    assert (scene.here / "my-skill" / "SKILL.md").read_text() == "mine"
    assert os.listdir(scene.here) == ["my-skill"]


@pytest.mark.parametrize("name", ["../x", "Upper", "", "a--b", "-a", "a/b", "x" * 65])
def test_a_name_that_no_skill_may_have_is_refused(scene: Scene, name: str) -> None:
    scene.wardian("new", "--", name, code=2)
    assert os.listdir(scene.here) == []


def test_an_installed_skill_is_listed_and_reported_when_it_changed(scene: Scene) -> None:
    scene.wardian("install", scene.skill)
    (one,) = json.loads(scene.wardian("list", "--json"))["skills"]
    assert one["path"] == str(scene.installed)
    assert one["installed"]["source"] == str(scene.skill)
    assert one["installed"]["changed"] is False
    (scene.installed / "scripts" / "a.py").write_text("print('other')\n")
    assert "changed since" in scene.wardian("list")
    assert "changed since" in scene.wardian("show", "one")
    assert "changed since" in scene.wardian("install", "--remove", "one", code=2)
    scene.wardian("install", scene.skill, code=2)
    scene.wardian("install", scene.skill, "--force")
    assert (scene.installed / "scripts" / "a.py").read_text() == "print('hi')\n"
    assert scene.left() == ["one"]
    scene.wardian("install", "--remove", "one")
    assert scene.left() == []
    assert json.loads(scene.wardian("install", "--list", "--json"))["skills"] == []


def test_an_archive_and_a_skill_of_a_clone_are_installed_by_name(scene: Scene) -> None:
    packed = scene.here / "one.skill"
    scene.wardian("pack", scene.skill, "-o", packed)
    scene.wardian("install", packed, "--project", "--to", "claude")
    assert (scene.here / ".claude" / "skills" / "one" / "SKILL.md").exists()
    clone = scene.skill.parent
    write_skill(clone / "kit" / "skills" / "two", {})
    (clone / ".claude-plugin").mkdir()
    market = {"plugins": [{"name": "kit", "source": "./kit"}]}
    (clone / ".claude-plugin" / "marketplace.json").write_text(json.dumps(market))
    assert "2 skills" in scene.wardian("install", clone, code=2)
    scene.wardian("install", clone, "three", code=3)
    scene.wardian("install", clone, "kit", "--dry-run")
    assert scene.left() == []
    scene.wardian("install", clone, "kit")
    assert scene.left() == ["two"]


def test_a_skill_with_errors_is_installed_by_force_alone(scene: Scene) -> None:
    bad = write_skill(scene.skill.parent / "bad", {}, fields="version: 1\n")
    assert "WS201" in scene.wardian("install", bad, code=1)
    assert scene.left() == []
    scene.wardian("install", bad, "--force")
    assert scene.left() == ["bad"]


@pytest.mark.parametrize("what", ["link", "pipe"])
def test_what_is_no_part_of_a_skill_is_refused_and_leaves_nothing(scene: Scene, what: str) -> None:
    outside = scene.here / "secret"
    outside.write_text(SECRET)
    if what == "link":
        (scene.skill / "zz.txt").symlink_to(outside)
    else:
        os.mkfifo(scene.skill / "zz.txt")
    scene.wardian("install", scene.skill, code=1)
    scene.wardian("install", scene.skill, "--force", code=125)
    assert scene.left() == []


def test_a_link_that_a_guest_left_in_the_target_is_not_followed(scene: Scene) -> None:
    (scene.here / "work").mkdir()
    (scene.here / "mine").mkdir()
    guest = "mkdir .agents && ln -s ../../mine .agents/skills"
    scene.wardian("exec", "--work", "work", "--", "sh", "-c", guest)
    done = call("install", scene.skill, "--project", cwd=scene.here / "work", env=scene.env)
    assert done.returncode == 2
    assert "link" in done.stderr
    assert os.listdir(scene.here / "mine") == []


def test_a_failed_replacement_brings_the_old_skill_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wardian.errors import SkillError
    from wardian.runner import installing

    monkeypatch.setenv("HOME", str(scene.home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    target = installing.check_target_folder(str(scene.installed.parent), "one", force=True)
    before = installing.install(scene.skill, target, "here")
    (scene.skill / "SKILL.md").write_text("other")

    def fails(record: object) -> None:
        raise OSError(28, "no space left")

    with monkeypatch.context() as broken:
        broken.setattr(installing, "write_record", fails)
        broken.setattr(installing, "record_of", lambda path: None)
        broken.setattr(installing, "drop_record", lambda path: None)
        with pytest.raises(SkillError):
            installing.install(scene.skill, target, "here")
    assert scene.left() == ["one"]
    assert not before.changed


@pytest.mark.parametrize("target", ["../.git/config", "../.env", ".git/config"])
def test_a_clones_other_files_are_taken_for_no_file_of_a_skill(scene: Scene, target: str) -> None:
    """What a clone brings can be a link, and what its owner keeps there a password."""
    top = scene.skill.parent
    for folder in (top, scene.skill) if target.startswith(".git") else (top,):
        (folder / ".git").mkdir()
        for path in (".git/config", ".env"):
            text = f"---\nname: one\ndescription: {SECRET} is what stands here\n---\nx\n"
            (folder / path).write_text(text)
    link = scene.skill / ("SKILL.md" if target.startswith("..") else "notes")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    for words in (("install", "--force"), ("check",), ("show",)):
        done = call(*words, scene.skill, cwd=scene.here, env=scene.env)
        assert SECRET not in done.stdout + done.stderr
    assert scene.left() == []
