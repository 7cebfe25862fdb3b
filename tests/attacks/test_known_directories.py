"""The register knows a directory that was shared for writing under another name too, and does not
take a new one for it. What lies around a program is not shown with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from wardian.sandbox.paths import birth
from wardian.sandbox.paths.named import was_shared
from wardian.sandbox.paths.shared_before import (
    KEPT_AS_MOVED_S,
    PRUNE_EVERY_S,
    forget_what_is_gone,
    register_places,
    remember,
)

from .test_links_left_behind import SECRET, Scene, refused


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Scene(tmp_path)


def has_birth_times(path: Path) -> bool:
    return birth.born_ns(str(path)) is not None


def test_a_link_in_a_directory_that_was_renamed_since_is_not_followed(scene: Scene) -> None:
    if not has_birth_times(scene.top):
        pytest.skip("this file system does not say when a directory was made")
    scene.guest(f"ln -s {scene.private} left; mkdir deep; ln -s {scene.private} deep/left")
    scene.project.rename(scene.top / "renamed")
    for spelling in ("renamed/left", "renamed/deep/left"):
        done = scene.wardian("exec", "--read", f"{spelling}:/in", "--", "cat", "/in/secret")
        refused(done, str(scene.private))
    # One that was made since is another directory, also at the old name.
    scene.project.mkdir()
    (scene.project / "own").symlink_to(scene.private)
    done = scene.wardian("exec", "--read", "project/own:/in", "--", "cat", "/in/secret")
    assert done.stdout == SECRET, done.stderr
    # Until it is shared itself.
    scene.guest("true")
    refused(
        scene.wardian("exec", "--read", "project/own:/in", "--", "cat", "/in/secret"),
        str(scene.private),
    )


def test_a_directory_inside_one_that_was_moved_is_found_by_what_is_above_it(scene: Scene) -> None:
    if not has_birth_times(scene.top):
        pytest.skip("this file system does not say when a directory was made")
    remember([str(scene.project)])
    (scene.top / "away").mkdir()
    scene.project.rename(scene.top / "away/again")
    assert was_shared(str(scene.top / "away/again/sub")) == str(scene.top / "away/again")
    assert was_shared(str(scene.top / "away")) is None


def test_a_new_directory_with_the_inode_of_a_removed_one_is_a_new_one(scene: Scene) -> None:
    if not has_birth_times(scene.top):
        pytest.skip("this file system does not say when a directory was made")
    remember([str(scene.project)])
    for _ in range(20):  # most file systems soon give the inode again
        shutil.rmtree(scene.project)
        scene.project.mkdir()
        assert was_shared(str(scene.project)) is None


def test_where_no_birth_time_is_known_the_path_decides(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(birth, "born_ns", lambda path: None)
    remember([str(scene.project)])
    other = scene.top / "other"
    scene.project.rename(other)
    assert was_shared(str(other)) is None
    scene.project.mkdir()
    assert was_shared(str(scene.project)) == str(scene.project)


def test_a_clock_that_went_back_lifts_nothing(scene: Scene) -> None:
    remember([str(scene.project)])
    register = register_places()[0]
    before = {entry: os.stat(f"{register}/{entry}").st_mtime_ns for entry in os.listdir(register)}
    later = {entry: when + 3600 * 10**9 for entry, when in before.items()}
    for entry, when in later.items():
        os.utime(f"{register}/{entry}", ns=(when, when))
    remember([str(scene.project)])
    for entry, when in later.items():
        assert os.stat(f"{register}/{entry}").st_mtime_ns == when


def test_an_entry_of_a_moved_directory_is_kept_for_a_month(scene: Scene) -> None:
    remember([str(scene.project)])
    register = register_places()[0]
    scene.project.rename(scene.top / "renamed")
    fd = os.open(register, os.O_RDONLY)
    try:
        now = os.stat(register).st_mtime
        forget_what_is_gone(fd, now + PRUNE_EVERY_S + 1)
        assert [name for name in os.listdir(register) if name.startswith("inode-")]
        forget_what_is_gone(fd, now + KEPT_AS_MOVED_S + PRUNE_EVERY_S)
        assert not [name for name in os.listdir(register) if name.startswith("inode-")]
    finally:
        os.close(fd)


RUNS = "#!/bin/sh\necho ran; cat {secret} {own} 2>&1\n"


@pytest.mark.parametrize("command", [("exec", "--", "mytool"), ("run", "skill", "a.sh")])
def test_a_common_prefix_is_not_shared_with_a_program_in_it(
    scene: Scene, command: tuple[str, ...]
) -> None:
    local = scene.top / "home/.local"
    for folder in ("bin", "lib/node_modules/x", "share/keyrings", "state", "lib/other"):
        (local / folder).mkdir(parents=True)
    secret, own = local / "share/keyrings/login", local / "lib/node_modules/x/own"
    for place in (secret, local / "state/s", local / "lib/other/s"):
        place.write_text(SECRET)
    own.write_text("its own library")
    script = RUNS.format(secret=f"{secret} {local}/state/s {local}/lib/other/s", own=own)
    (local / "bin/mytool").write_text(script)
    (local / "bin/node").write_text(script)
    (scene.top / "skill/scripts/a.sh").write_text("node\n")
    for name in ("mytool", "node"):
        (local / "bin" / name).chmod(0o755)
    done = scene.wardian(*command, PATH=f"{local}/bin:/usr/bin:/bin")
    assert done.stdout.startswith("ran\n"), done.stderr
    assert "its own library" in done.stdout
    assert SECRET not in done.stdout


def test_a_program_that_npm_linked_into_a_common_prefix_finds_its_library(scene: Scene) -> None:
    local = scene.top / "home/.local"
    for folder in ("bin", "lib/node_modules/tool/bin", "share"):
        (local / folder).mkdir(parents=True)
    program = local / "lib/node_modules/tool/bin/tool.sh"
    program.write_text('#!/bin/sh\ncat "$(dirname "$0")/../library"\n')
    program.chmod(0o755)
    (local / "lib/node_modules/tool/library").write_text("found")
    (local / "bin/tool").symlink_to("../lib/node_modules/tool/bin/tool.sh")
    done = scene.wardian("exec", "--", "tool", PATH=f"{local}/bin:/usr/bin:/bin")
    assert done.stdout == "found", done.stderr


@pytest.mark.parametrize("shared_before", [False, True])
def test_a_project_that_is_its_own_venv_keeps_its_secrets(
    scene: Scene, shared_before: bool
) -> None:
    venv.create(scene.project, symlinks=True)
    (scene.project / ".env").write_text(SECRET)
    (scene.project / "src").mkdir()
    (scene.project / "src/key").write_text(SECRET)
    if shared_before:
        scene.guest("true")
    python = f"{scene.project}/bin/python"
    code = "import sys, os; print(sys.prefix); [print(open(p).read()) for p in sys.argv[1:]]"
    paths = (f"{scene.project}/.env", f"{scene.project}/src/key")
    for path in paths:
        done = scene.wardian("exec", "--", python, "-c", code, path)
        assert done.stdout == f"{scene.project}\n", done.stderr
        assert SECRET not in done.stdout + done.stderr
    done = scene.wardian("exec", "--work", "project", "--", python, "-c", code, "/work/.env")
    assert SECRET in done.stdout, done.stderr


@pytest.mark.parametrize("part", ["lib64", "share", "etc", "pyvenv.cfg", "lib"])
def test_a_part_of_an_environment_that_a_guest_made_a_link_is_not_shown(
    scene: Scene, part: str
) -> None:
    venv.create(scene.project, symlinks=True)
    python = f"{scene.project}/bin/python"
    target = scene.private / "secret" if part == "pyvenv.cfg" else scene.private
    (scene.private / "lib").mkdir()
    (scene.private / "lib/secret").write_text(SECRET)
    scene.guest(f"rm -rf {part}; ln -s {target}{'/lib' if part == 'lib64' else ''} {part}")
    name = part if part == "pyvenv.cfg" else f"{part}/secret"
    code = f"print(open('{scene.project}/{name}').read())"
    done = scene.wardian("exec", "--", python, "-c", code)
    assert done.returncode != 0
    assert SECRET not in done.stdout + done.stderr


def test_a_skill_that_a_guest_put_before_the_callers_own_is_not_run(scene: Scene) -> None:
    for top, text in ((scene.top / "home", "own"), (scene.project, "planted")):
        skill = top / ".claude/skills/report"
        (skill / "scripts").mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: report\ndescription: Reports.\n---\nDo.\n")
        (skill / "scripts/a.sh").write_text(f"echo {text}\n")

    def run(skill: str) -> subprocess.CompletedProcess[str]:
        words = ["sh", "-c", 'cd project && exec "$@"', "sh"]
        scene_words = [*words, sys.executable, "-P", "-m", "wardian", "run", skill, "a.sh"]
        return subprocess.run(
            scene_words, capture_output=True, text=True, timeout=60, cwd=scene.top,
            env=scene.env, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    assert run("report").stdout == "planted\n"  # a project of the caller's own comes first
    scene.guest("echo echo planted again > .claude/skills/report/scripts/a.sh")
    done = run("report")
    assert done.returncode in (2, 125), done.stderr
    assert "shared for writing" in done.stderr
    own = str(scene.top / "home/.claude/skills/report")
    assert own in done.stderr
    assert run(own).stdout == "own\n"
    assert run("./.claude/skills/report").stdout == "planted again\n"


def test_specimens_that_a_guest_could_change_do_not_ship(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wardian.measure.probes import specimen

    probes = scene.project / "probes"
    probes.mkdir()
    monkeypatch.setattr(specimen, "shipped", lambda name: str(scene.project / name))
    assert specimen.ships(str(probes))
    scene.guest("true")
    assert not specimen.ships(str(probes))
