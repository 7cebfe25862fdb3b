"""A link that one run leaves in a shared directory decides nothing for the next: not what is
shared, nor where a file of the caller's is read or written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import call
from wardian import Policy, Sandbox, Share
from wardian.errors import PolicyError, ShareError, UsageError
from wardian.observe.record import RecordedRun, Recording

Wardian = Callable[..., "subprocess.CompletedProcess[str]"]
SECRET = "the-callers-secret"
SKILL = "---\nname: plain\ndescription: Prints what it can see, for tests.\n---\nDo it.\n"


class Scene:
    """A project that a first run could write to, and a directory of the caller's own beside it."""

    def __init__(self, top: Path) -> None:
        self.top, self.project, self.private = top, top / "project", top / "private"
        for folder in (self.project / "sub", self.private, top / "home", top / "skill/scripts"):
            folder.mkdir(parents=True)
        (self.private / "secret").write_text(SECRET)
        (top / "skill/SKILL.md").write_text(SKILL.replace("plain", "skill"))
        (top / "skill/scripts/a.sh").write_text("cat /work/* /in/* /state/* 2>/dev/null; true\n")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "WARDIAN_"))}
        self.env |= {"HOME": str(top / "home"), "LC_ALL": "C.UTF-8"}

    def wardian(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return call(*args, cwd=self.top, env=self.env | env)

    def guest(self, script: str) -> None:
        """The first run: a guest that may write to the project."""
        done = self.wardian("exec", "--work", "project", "--", "sh", "-c", script)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Scene(tmp_path)


LAST, MIDDLE = "project/left", "project/left/../../private"
LEADS_THERE = ("ln -s {private} left", "ln -s .. up", "mkdir a && ln -s ../../private a/b")


def refused(done: subprocess.CompletedProcess[str], real: str) -> None:
    """Refused, with a hint that names the real target, and nothing of it seen."""
    assert done.returncode in (2, 125), (done.returncode, done.stdout, done.stderr)
    assert "link" in done.stderr, done.stderr
    assert real in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("option", ["--read", "--write"])
@pytest.mark.parametrize(
    "spelling", ["project/left", "project/./left", "project/up/private", "project/a/b"]
)
def test_a_share_that_a_left_link_leads_to_is_refused(
    scene: Scene, option: str, spelling: str
) -> None:
    scene.guest("; ".join(LEADS_THERE).format(private=scene.private))
    see = ("--", "sh", "-c", "cat /in/*; touch /in/written")
    refused(scene.wardian("exec", option, f"{spelling}:/in", *see), str(scene.private))
    assert not (scene.private / "written").exists()
    # What the hint says works; and so does a real directory of the project.
    named = scene.wardian("exec", option, f"{scene.private}:/in", "--", "cat", "/in/secret")
    assert named.stdout == SECRET, named.stderr
    assert scene.wardian("exec", option, "project/sub:/in", "--", "ls", "/in").returncode == 0


@pytest.mark.parametrize("spelling", ["project/left", "project/up/private", "project/a/b"])
def test_a_work_directory_that_a_left_link_leads_to_is_refused(scene: Scene, spelling: str) -> None:
    scene.guest("; ".join(LEADS_THERE).format(private=scene.private))
    done = scene.wardian("exec", "--work", spelling, "--", "sh", "-c", "cat secret; touch written")
    refused(done, str(scene.private))
    assert not (scene.private / "written").exists()
    assert scene.wardian("exec", "--work", "project", "--", "ls").returncode == 0


def test_a_link_of_the_same_runs_writable_share_is_not_followed(scene: Scene) -> None:
    (scene.project / "mine").symlink_to(scene.private)
    done = scene.wardian(
        "exec", "--work", "project", "--read", "project/mine:/in", "--", "cat", "/in/secret"
    )
    refused(done, str(scene.private))
    # Alone it is the caller's own link in an ordinary place.
    done = scene.wardian("exec", "--read", "project/mine:/in", "--", "cat", "/in/secret")
    assert done.stdout == SECRET, done.stderr


def test_links_of_the_callers_own_in_ordinary_places_are_followed(scene: Scene) -> None:
    (scene.top / "data").symlink_to(scene.private)
    (scene.top / "again").symlink_to("data")
    for name in ("data", "again"):
        done = scene.wardian("exec", "--read", f"{name}:/in", "--", "cat", "/in/secret")
        assert done.stdout == SECRET, done.stderr
    work = scene.wardian("exec", "--work", "data", "--", "sh", "-c", "cat secret; touch written")
    assert work.stdout == SECRET, work.stderr
    assert (scene.private / "written").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's link")
def test_another_users_link_is_not_followed(scene: Scene) -> None:
    (scene.top / "theirs").symlink_to(scene.private)
    os.lchown(scene.top / "theirs", 54321, 54321)
    refused(
        scene.wardian("exec", "--read", "theirs:/in", "--", "cat", "/in/secret"), str(scene.private)
    )


def test_the_python_interface_refuses_the_same(scene: Scene) -> None:
    scene.guest(f"ln -s {scene.private} left")
    left = str(scene.project / "left")
    for policy in (
        Policy.default().with_shares([Share(left, "/in")]),
        Policy.default().with_shares([Share(left, "/in", True)]),
        Policy.default().but(work=left),
        Policy.default().but(rootfs=left),
    ):
        with Sandbox(policy, private_work=True) as sandbox, pytest.raises(ShareError, match="link"):
            sandbox.run(["cat", "/in/secret", "/work/secret", "/secret"])
    with Sandbox(Policy.default().with_shares([Share(str(scene.private), "/in")])) as sandbox:
        assert sandbox.run(["cat", "/in/secret"]).text == SECRET


def test_what_the_python_interface_shared_for_writing_is_remembered(scene: Scene) -> None:
    with Sandbox(Policy.default().but(work=str(scene.project))) as sandbox:
        assert sandbox.run(["ln", "-s", str(scene.private), "left"]).ok
    done = scene.wardian("exec", "--read", "project/left:/in", "--", "cat", "/in/secret")
    refused(done, str(scene.private))


def test_a_file_that_was_shared_for_writing_alone_is_remembered_too(scene: Scene) -> None:
    (scene.top / "policy.toml").write_text("")
    assert scene.wardian("exec", "--policy", "policy.toml", "--", "true").returncode == 0
    script = f"echo '[files]\nread = [\"{scene.private}\"]' > /in.toml"
    done = scene.wardian("exec", "--write", "policy.toml:/in.toml", "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    done = scene.wardian(
        "exec", "--policy", "policy.toml", "--", "cat", str(scene.private / "secret")
    )
    assert done.returncode == 125
    assert SECRET not in done.stdout
    assert "shared for writing" in done.stderr


# Where files of the caller's are written


def test_out_does_not_follow_a_left_link(scene: Scene) -> None:
    (scene.top / "skill/scripts/a.sh").write_text("echo made > file\n")
    scene.guest(f"ln -s {scene.private} left; ln -s {scene.private}/new dangling")
    for spelling in ("project/left", "project/left/new", "project/dangling"):
        done = scene.wardian("run", "skill", "a.sh", "--out", spelling, "--force")
        refused(done, str(scene.private))
    assert os.listdir(scene.private) == ["secret"]
    assert scene.wardian("run", "skill", "a.sh", "--out", "project/made").returncode == 0
    assert (scene.project / "made/file").read_text() == "made\n"


@pytest.mark.parametrize("spelling", ["project/left", "project/left/records", "project/sub/deep"])
def test_records_are_kept_from_where_guests_write(scene: Scene, spelling: str) -> None:
    scene.guest(f"ln -s {scene.private} left; ln -s {scene.private} sub/deep")
    done = scene.wardian("exec", "--record", spelling, "--", "true")
    refused(done, str(scene.private))
    done = scene.wardian("exec", "--", "true", WARDIAN_RECORD=str(scene.top / spelling))
    refused(done, str(scene.private))
    assert os.listdir(scene.private) == ["secret"]
    assert scene.wardian("exec", "--record", "records", "--", "true").returncode == 0
    assert len(os.listdir(scene.top / "records")) == 1


def test_a_recording_by_the_python_interface_is_refused_too(scene: Scene) -> None:
    scene.guest(f"ln -s {scene.private} left")
    run = RecordedRun("exec", ("true",), Policy.default())
    with pytest.raises(UsageError, match="link"):
        Recording(str(scene.project / "left"), run)
    assert os.listdir(scene.private) == ["secret"]


@pytest.mark.parametrize(
    "command",
    [
        ("trace", "-o", "{}", "exec", "--", "true"),
        ("trace", "--perfetto", "{}", "exec", "--", "true"),
        ("learn", "-o", "{}.toml", "--", "true"),
        ("pack", "skill", "-o", "{}.skill"),
        ("test", "skill", "--junit", "{}"),
        ("report", "--store", "{}", "-o", "pages"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_no_command_writes_through_a_left_link(scene: Scene, command: tuple[str, ...]) -> None:
    """Neither at the path itself nor further up."""
    (scene.private / "rc").write_text("as it was")
    names = " ".join(f"left{ending}" for ending in ("", ".toml", ".skill"))
    scene.guest(f"for n in {names}; do ln -s {scene.private}/rc $n; done; ln -s .. up")
    for spelling in ("project/left", "project/up/private/rc"):
        words = [word.replace("{}", spelling) for word in command]
        done = scene.wardian(*words)
        assert done.returncode != 0, done.stdout
        assert "link" in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    assert (scene.private / "rc").read_text() == "as it was"
    assert sorted(os.listdir(scene.private)) == ["rc", "secret"]


def test_input_does_not_follow_a_left_link(scene: Scene) -> None:
    scene.guest(f"ln -s {scene.private}/secret left")
    done = scene.wardian("learn", "--input", "project/left", "-o", "p.toml", "--", "cat")
    assert done.returncode == 2, done.stderr
    assert str(scene.private) in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_a_skill_that_a_left_link_leads_to_is_not_shared(scene: Scene) -> None:
    (scene.private / "SKILL.md").write_text(SKILL.replace("plain", "private"))
    (scene.private / "a.sh").write_text("cat /skill/secret\n")
    scene.guest(
        f"mkdir -p .agents/skills; ln -s {scene.private} .agents/skills/private; ln -s .. up"
    )
    for spelling in ("project/.agents/skills/private", "project/up/private"):
        refused(scene.wardian("run", spelling, "a.sh"), str(scene.private))
    named = scene.wardian("run", str(scene.private), "a.sh")
    assert named.stdout == SECRET, named.stderr


def test_a_root_file_system_that_a_left_link_leads_to_is_refused(scene: Scene) -> None:
    scene.guest(f"ln -s {scene.private} left")
    refused(
        scene.wardian("exec", "--rootfs", "project/left", "--", "/cat", "/secret"),
        str(scene.private),
    )


# Files that decide


def test_a_policy_in_a_place_that_was_shared_for_writing_is_refused(scene: Scene) -> None:
    policy = f'[files]\nread = ["{scene.private}"]\n[network]\nmode = "host"\n'
    scene.guest(f"cat > p.toml <<'END'\n{policy}END\nln -s $PWD/../private sub/l")
    see = ("--", "cat", str(scene.private / "secret"))
    for spelling in ("project/p.toml", "./project/sub/../p.toml", str(scene.project / "p.toml")):
        done = scene.wardian("exec", "--policy", spelling, *see)
        assert done.returncode == 125, done.stdout
        assert "shared for writing" in done.stderr
        assert SECRET not in done.stdout
    with pytest.raises(PolicyError, match="shared for writing"):
        Policy.from_toml(scene.project / "p.toml")
    copied = scene.top / "copy.toml"  # what the hint says
    copied.write_text((scene.project / "p.toml").read_text())
    assert scene.wardian("exec", "--policy", "copy.toml", *see).stdout == SECRET


def test_a_policy_in_what_the_same_run_may_write_is_refused(scene: Scene) -> None:
    (scene.project / "p.toml").write_text("")
    for share in (("--work", "project"), ("--write", "project:/in"), ("--write", ".:/in")):
        done = scene.wardian("exec", "--policy", "project/p.toml", *share, "--", "true")
        assert done.returncode == 125, (share, done.stdout, done.stderr)
        assert "may write" in done.stderr
    assert scene.wardian("exec", "--policy", "project/p.toml", "--", "true").returncode == 0


def test_settings_in_a_place_that_was_shared_for_writing_are_not_believed(scene: Scene) -> None:
    """The home itself was shared: a guest can't make settings there, nor change wardian's state."""
    home, config = scene.top / "home", scene.top / "home/.config/wardian"
    script = (
        "mkdir -p .config/wardian;"
        "echo '[record]\ndir = \"/tmp/taken\"' > .config/wardian/config.toml;"
        "rm -rf .local/state/wardian; mv .local/state/wardian .local/state/away; mv .local .away;"
        "ln -s ../private left; ls -A .config/wardian"
    )
    done = scene.wardian("exec", "--work", str(home), "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert not (config / "config.toml").exists()
    assert len(os.listdir(home / ".local/state/wardian/shared-for-writing")) == 3
    refused(
        scene.wardian("exec", "--read", "home/left:/in", "--", "cat", "/in/secret"),
        str(scene.private),
    )


# The register


def test_a_run_that_can_not_be_remembered_does_not_start(scene: Scene) -> None:
    """Where no place for the register can be had, nothing is shared for writing."""
    program = (
        "import sys, json\n"
        "from wardian.sandbox.paths import shared_before\n"
        "shared_before.register_places = lambda: ('/proc/none',)\n"
        "from wardian.cli import dispatch\n"
        "sys.exit(dispatch(json.loads(sys.argv[1])))\n"
    )
    for share, code in ((["--work", "project"], 125), (["--read", "project"], 0)):
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, json.dumps(["exec", *share, "--", "true"])],
            capture_output=True, text=True, cwd=scene.top, env=scene.env, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert ("XDG_STATE_HOME" in done.stderr) is (code == 125)


def test_a_home_that_can_not_be_written_has_its_register_elsewhere(scene: Scene) -> None:
    run = scene.top / "run"
    run.mkdir(mode=0o700)
    env = {"HOME": "/proc/nobody", "XDG_RUNTIME_DIR": str(run)}
    script = f"ln -s {scene.private} left"
    done = scene.wardian("exec", "--work", "project", "--", "sh", "-c", script, **env)
    assert done.returncode == 0, done.stderr
    assert os.listdir(run) == ["wardian"]
    refused(
        scene.wardian("exec", "--read", "project/left:/in", "--", "ls", "/in", **env),
        str(scene.private),
    )


def test_the_register_itself_is_never_shared_for_writing(scene: Scene) -> None:
    scene.guest("true")
    register = scene.top / "home/.local/state/wardian/shared-for-writing"
    assert len(os.listdir(register)) == 3
    for place in (register, register / os.listdir(register)[0]):
        done = scene.wardian("exec", "--write", f"{place}:/in", "--", "true")
        assert done.returncode == 125
        assert "wardian's own files" in done.stderr
    script = "rm -rf /in/shared-for-writing/*; mv /in/shared-for-writing /in/x; ls /in"
    done = scene.wardian("exec", "--write", f"{register.parent}:/in", "--", "sh", "-c", script)
    assert done.stdout == "shared-for-writing\n", done.stderr
    assert len(os.listdir(register)) == 5
