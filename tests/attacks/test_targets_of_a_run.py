"""What a run's caller names to be written or read afterwards lies in what the run itself may write
to. The guest puts something else in its place: nothing but the named place is reached."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wardian import Policy, Sandbox, Share
from wardian.errors import SandboxError

from .test_links_left_behind import SECRET, Scene

PLANT = "echo planted > /work/.bashrc; mkdir /work/sub; echo planted > /work/sub/planted; "


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = Scene(tmp_path)
    (found.private / ".bashrc").write_text("mine")
    return found


def untouched(scene: Scene) -> bool:
    found = {path.name: path.read_text() for path in scene.private.iterdir()}
    return found == {"secret": SECRET, ".bashrc": "mine"}


@pytest.mark.parametrize(
    ("out", "script"),
    [
        ("out", "rmdir /p/out; ln -s {private} /p/out"),
        ("new", "ln -s {private} /p/new"),
        ("sub/out", "mv /p/sub /p/old; ln -s {private} /p/sub"),
        ("sub/new", "mv /p/sub /p/old; ln -s {private} /p/sub"),
        ("full", "mv /p/full /p/old; ln -s {private} /p/full"),
        ("full", "ln -s {private} /p/full/sub; ln -s {private}/.bashrc /p/full/.bashrc"),
        ("full", "rm -r /p/full; mkdir /p/full; ln -s {private} /p/full/sub"),
    ],
)
@pytest.mark.parametrize("writes", [PLANT, ""], ids=["with-files", "without"])
def test_out_leads_nowhere_else_after_the_guest_moved_it(
    scene: Scene, out: str, script: str, writes: str
) -> None:
    for name in ("out", "sub/out", "full"):
        (scene.project / name).mkdir()
    (scene.project / "full/here").write_text("here")
    (scene.top / "skill/scripts/a.sh").write_text(writes + script.format(private=scene.private))
    words = ("run", "skill", "a.sh", "--write", "project:/p", "--out", f"project/{out}", "--force")
    done = scene.wardian(*words)
    assert untouched(scene), (sorted(os.listdir(scene.private)), done.stderr)
    assert done.returncode in (0, 125), done.stderr
    assert "Traceback" not in done.stderr
    assert not list(scene.project.glob("**/*.partial")), done.stderr


def test_out_in_a_writable_share_is_kept_where_it_was_named(scene: Scene) -> None:
    (scene.top / "skill/scripts/a.sh").write_text(PLANT)
    done = scene.wardian(
        "run", "skill", "a.sh", "--write", "project:/p", "--out", "project/sub/new"
    )
    assert done.returncode == 0, done.stderr
    assert (scene.project / "sub/new/sub/planted").read_text() == "planted\n"


def test_what_out_kept_is_a_guests_from_then_on(scene: Scene) -> None:
    policy = f'[files]\nread = ["{scene.private}:/in"]\n'
    script = f"mkdir bin; ln -s ../x bin/link; cat > p.toml <<'END'\n{policy}END\n"
    (scene.top / "skill/scripts/a.sh").write_text(script)
    assert scene.wardian("run", "skill", "a.sh", "--out", "made").returncode == 0
    done = scene.wardian("exec", "--policy", "made/p.toml", "--", "cat", "/in/secret")
    assert done.returncode == 125, done.stderr
    assert "shared for writing" in done.stderr
    (scene.top / "p.toml").write_bytes((scene.top / "made/p.toml").read_bytes())
    done = scene.wardian("exec", "--policy", "p.toml", "--", "cat", "/in/secret")
    assert done.stdout == SECRET, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "-o", "project/sub/t", "exec"),
        ("trace", "--perfetto", "project/sub/t", "exec"),
        ("learn", "-o", "project/sub/t"),
        ("exec", "--record", "project/sub"),
    ],
    ids=" ".join,
)
def test_no_output_of_a_command_follows_its_own_guest(scene: Scene, words: tuple[str, ...]) -> None:
    script = (
        f"mv /p/sub /p/old; ln -s {scene.private} /p/sub; ln -s {scene.private}/.bashrc /p/old/t"
    )
    done = scene.wardian(*words, "--write", "project:/p", "--", "sh", "-c", script)
    assert untouched(scene), (sorted(os.listdir(scene.private)), done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("swap", ["ln -s {private} /p/w", "mkdir /p/w; echo other > /p/w/mine"])
def test_files_are_those_of_the_directory_that_was_opened(scene: Scene, swap: str) -> None:
    work = scene.project / "w"
    work.mkdir()
    (work / "mine").write_text("mine")
    policy = Policy.default().with_shares([Share(str(scene.project), "/p", True)])
    policy = policy._replace(work=str(work))
    with Sandbox(policy) as sandbox:
        assert sandbox.files.read("mine") == b"mine"
        script = "mv /p/w /p/old; " + swap.format(private=scene.private)
        assert sandbox.run(["sh", "-c", script], cwd="/").exit_code == 0
        assert [one.name for one in sandbox.files.list()] == ["mine"]
        assert sandbox.files.read("mine") == b"mine"
        with pytest.raises(FileNotFoundError):
            sandbox.files.read("secret")
        sandbox.files.write("planted", b"x")
    assert (scene.project / "old/planted").exists()
    assert untouched(scene)


def test_a_private_work_directory_is_the_same_one_whatever_its_name_leads_to(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(scene.project))
    sandbox = Sandbox()
    sandbox.run(["touch", "mine"])
    os.rename(sandbox.work_path, scene.project / "old")  # as a guest could that has TMPDIR
    os.symlink(scene.private, sandbox.work_path)
    assert [one.name for one in sandbox.files.list()] == ["mine"]
    sandbox.files.write("planted", b"x")
    with pytest.raises(FileNotFoundError):
        sandbox.files.read("secret")
    with pytest.raises(SandboxError, match="can't be removed"):
        sandbox.close()
    assert untouched(scene)


@pytest.mark.parametrize("work", ["private", "named"])
def test_no_descriptor_of_a_work_directory_is_left(scene: Scene, work: str) -> None:
    policy = Policy.default()._replace(work=str(scene.project) if work == "named" else None)
    with Sandbox(policy) as sandbox:
        sandbox.run(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for closing in (True, False):
        sandbox = Sandbox(policy)
        sandbox.run(["true"])
        assert sandbox.files.list() is not None
        if closing:
            sandbox.close()
        del sandbox
    assert len(os.listdir("/proc/self/fd")) == before
