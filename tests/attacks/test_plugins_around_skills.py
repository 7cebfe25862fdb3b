"""A plugin's files are shared with the runs of its skills. What a guest, a skill or another user
can write never makes a directory a plugin, and no more is shared than the clone holds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.command import call
from tests.skill_folders import write_skill

SECRET = "the-callers-secret"
PLUGIN_JSON = ".claude-plugin/plugin.json"
SHOW = """\
echo "root=$CLAUDE_PLUGIN_ROOT skill=$SKILL_DIR"
cat /plugin/secret "$CLAUDE_PLUGIN_ROOT"/secret "$SKILL_DIR"/../../secret /plugin/.git/config
true
"""


class Scene:
    """A directory of the caller's with a secret, and a plugin with one skill in a clone."""

    def __init__(self, top: Path) -> None:
        self.top, self.clone = top, top / "clone"
        self.plugin = self.clone / "kit"
        (top / "home").mkdir()
        (self.clone / ".git").mkdir(parents=True)
        (self.clone / ".git" / "config").write_text(SECRET)
        (self.clone / "secret").write_text(SECRET)
        files = {"scripts/show.sh": SHOW, "scripts/own.py": "print('own')\n"}
        self.skill = write_skill(self.plugin / "skills" / "one", files)
        (self.plugin / "scripts").mkdir()
        (self.plugin / "scripts" / "shared.py").write_text("print('shared')\n")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WARDIAN_"))}
        self.env |= {"HOME": str(top / "home"), "LC_ALL": "C.UTF-8"}

    def declare(self, place: Path, content: str = '{"name": "kit"}') -> Path:
        path = place / PLUGIN_JSON
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def run(self, *args: str) -> str:
        """What the skill's script prints."""
        words = args or ("show.sh",)
        done = call("run", self.skill, *words, cwd=self.top, env=self.env)
        return done.stdout + (done.stderr if args else "")

    def guest(self, place: Path, script: str) -> None:
        """A first run, which may write to ``place``."""
        done = call("exec", "--work", place, "--", "sh", "-c", script, cwd=self.top, env=self.env)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


ALONE = "root=/skill skill=/skill\n"
IN_KIT = "root=/plugin skill=/plugin/skills/one\n"


def test_a_skill_reaches_its_plugins_scripts_and_no_more(scene: Scene) -> None:
    scene.declare(scene.plugin)
    assert scene.run() == IN_KIT
    for way in ("../../scripts/shared.py", "/plugin/scripts/shared.py"):
        assert scene.run(way, "-q") == "shared\n"
    assert scene.run("own.py", "-q") == "own\n"
    (scene.skill / "scripts" / "lines.sh").write_text(
        'cd "$SKILL_DIR" && python3 ../../scripts/shared.py\n'
        'python3 "${CLAUDE_PLUGIN_ROOT}/scripts/shared.py"\n'
        'python3 "$SKILL_DIR/scripts/own.py"\npython3 /skill/scripts/own.py\n'
    )
    assert scene.run("lines.sh", "-q") == "shared\nshared\nown\nown\n"


def test_a_plugin_is_read_only(scene: Scene) -> None:
    scene.declare(scene.plugin)
    (scene.skill / "scripts" / "write.sh").write_text(
        "echo x > $CLAUDE_PLUGIN_ROOT/scripts/shared.py || echo refused\n"
    )
    scene.run("write.sh")
    assert (scene.plugin / "scripts" / "shared.py").read_text() == "print('shared')\n"


def test_a_script_name_does_not_lead_out_of_the_plugin(scene: Scene) -> None:
    scene.declare(scene.plugin)
    (scene.plugin / "scripts" / "link.sh").symlink_to(scene.clone / "secret")
    for way in ("../../../secret", "../../scripts/link.sh", str(scene.clone / "secret")):
        assert SECRET not in scene.run(way)


def test_without_a_plugin_a_skill_is_alone(scene: Scene) -> None:
    assert scene.run() == ALONE


def test_a_clone_that_is_a_plugin_keeps_its_git_directory_to_itself(scene: Scene) -> None:
    scene.declare(scene.clone)
    (scene.clone / "secret").write_text("not so secret")
    printed = scene.run()
    assert "not so secret" in printed
    assert SECRET not in printed


GIT = ("HEAD", "objects", "refs")


def test_nothing_that_git_keeps_in_a_clone_is_shown(scene: Scene) -> None:
    """Clones inside the clone, and git's directory by another name; with the skill's changes kept
    or not, and where there are no copies."""
    scene.declare(scene.clone)
    (scene.clone / "secret").unlink()
    (scene.clone / ".git").rename(scene.clone / "kept")
    (scene.clone / ".git").write_text("gitdir: kept\n")
    for name in GIT:
        (scene.clone / "kept" / name).touch()
    for place in (scene.clone / "other", scene.plugin / "a" / "b" / "c", scene.skill / "part"):
        (place / ".git").mkdir(parents=True)
        (place / ".git" / "config").write_text(SECRET)
        (place / "there").write_text("shown\n")
    find = "grep -rh . /plugin/ /skill/ --include config --include there; true\n"
    (scene.skill / "scripts" / "find.sh").write_text(find)
    weaker = "--degrade landlock --degrade notify --degrade identity --degrade limits.processes"
    other = ("--backend", "bubblewrap", *weaker.split())
    for more in ((), ("--out", "kept-files"), *([other] if shutil.which("bwrap") else ())):
        done = call("run", *more, scene.skill, "find.sh", cwd=scene.top, env=scene.env)
        assert done.stdout.count("shown") == 4, done.stderr
        assert SECRET not in done.stdout


def test_a_skill_that_is_a_clone_keeps_its_git_directory_to_itself(scene: Scene) -> None:
    (scene.skill / ".git").mkdir()
    (scene.skill / ".git" / "config").write_text(SECRET)
    line = ("sh", "-c", "ls -A /skill; cat /skill/.git/config")
    done = call("exec", "--skill", scene.skill, "--", *line, cwd=scene.top, env=scene.env)
    assert "SKILL.md" in done.stdout
    assert SECRET not in done.stdout
    share = f"{scene.skill}:/skill"
    done = call(
        "exec", "--skill", scene.skill, "--read", share, "--", *line, cwd=scene.top, env=scene.env
    )
    assert SECRET in done.stdout  # the caller shares it


def test_what_a_guest_wrote_in_a_plugins_folder_makes_no_plugin(scene: Scene) -> None:
    """The folder with the manifest was shared for writing, and nothing above it."""
    folder = scene.clone / ".claude-plugin"
    folder.mkdir()
    scene.guest(folder, "echo {} > plugin.json")
    assert scene.run() == ALONE


def test_what_a_guest_wrote_makes_no_plugin(scene: Scene) -> None:
    scene.guest(scene.clone, "mkdir .claude-plugin && echo {} > .claude-plugin/plugin.json")
    assert scene.run() == ALONE


def test_what_a_guest_wrote_in_a_plugin_makes_no_wider_one(scene: Scene) -> None:
    scene.declare(scene.plugin)
    market = '{\\"plugins\\": [{\\"source\\": \\"../..\\"}, {\\"source\\": \\"..\\"}]}'
    script = f'mkdir .claude-plugin .git; echo "{market}" > .claude-plugin/marketplace.json'
    scene.guest(scene.plugin / "skills", script)
    assert SECRET not in scene.run()


def test_the_skills_own_files_make_no_plugin(scene: Scene) -> None:
    scene.declare(scene.skill, '{"name": "kit", "skills": ["../../.."]}')
    market = '{"plugins": [{"name": "kit", "source": "../../.."}]}'
    (scene.skill / ".claude-plugin" / "marketplace.json").write_text(market)
    assert scene.run() == ALONE


def test_a_link_to_a_manifest_makes_no_plugin(scene: Scene) -> None:
    scene.declare(scene.top / "elsewhere")
    (scene.clone / ".claude-plugin").symlink_to(scene.top / "elsewhere" / ".claude-plugin")
    assert scene.run() == ALONE


def test_outside_a_clone_nothing_above_a_skill_counts(scene: Scene) -> None:
    (scene.clone / ".git").rename(scene.top / "moved")
    scene.declare(scene.clone)
    assert scene.run() == ALONE


def test_the_home_is_no_plugin(scene: Scene) -> None:
    (scene.clone / "home").mkdir()
    scene.env["HOME"] = str(scene.clone)
    scene.declare(scene.clone)
    assert scene.run() == ALONE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_users_manifest_makes_no_plugin(scene: Scene) -> None:
    path = scene.declare(scene.plugin)
    assert scene.run() == IN_KIT
    os.chown(path, 12345, 12345)
    assert scene.run() == ALONE


def test_a_marketplace_names_no_plugin_above_its_clone(scene: Scene) -> None:
    market = scene.clone / ".claude-plugin" / "marketplace.json"
    market.parent.mkdir()
    (scene.clone / "up").symlink_to("..")
    market.write_text('{"plugins": [{"source": ".."}, {"source": "./up"}, {"source": "/"}]}')
    assert scene.run() == ALONE
