"""A project's settings may only tighten, and what a guest may have written decides nothing."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.command import call, environment

LOOSENING = {
    "limit": ('[limits]\ntime = "1h"', "2:1", "expected at most 10m"),
    "no limit": ('[limits]\nmemory = "none"', "2:1", "expected at most 4G"),
    "processes": ("[limits]\n\nprocesses = 4096", "3:1", "expected at most 512"),
    "network": ('[network]\nmode = "host"', "2:1", 'expected "none"'),
    "names": ('[network]\nmode = "names"', "2:1", 'expected "none"'),
    "hosts": ('[network]\nallow = ["example.com"]', "2:1", "may not allow hosts"),
    "connections": ("[network]\nmax_connections = 100000", "2:1", "expected at most 512"),
    "interface": ("[network]\ninterface = true", "2:1", "may not add a network interface"),
    "requests": (
        '[network.tls]\n"a.example.com" = {secret = {header = "A", from = "env:HOME"}}',
        "1:1", "may not set rules for requests",
    ),
    "read": ('[files]\nread = ["/etc"]', "2:1", "may not share files"),
    "write": ('[files]\nwrite = ["/tmp"]', "2:1", "may not share files"),
    "copy": ('[files]\ncopy = ["/etc"]', "2:1", "may not share files"),
    "work": ('[files]\nwork = "/"', "2:1", "may not share files"),
    "rootfs": ('[files]\nrootfs = "/"', "2:1", "may not choose a root file system"),
    "pass": ('[environment]\npass = ["SECRET"]', "2:1", "may not pass variables"),
    "only": ('[environment]\nonly = ["SECRET"]', "2:1", "expected names among LANG"),
    "set": ('[environment]\nset = {LD_PRELOAD = "/work/x.so"}', "2:1", "may not set variables"),
    "syscall": ('[syscalls]\nallow = ["mount"]', "2:1", "may not allow system calls"),
    "debug": ("[syscalls]\ndebug = true", "2:1", "may not allow debuggers"),
    "landlock": ("[landlock]\nabi = 0", "2:1", "expected at least 1"),
    "walls": ('[protections]\ndegrade = ["landlock"]', "2:1", "may not give up walls"),
    "explain": ("[refusals]\nexplain = true", "2:1", "may not change what is reported"),
    "backend": ('[run]\nbackend = "host"', "1:1", "may not choose a policy or a backend"),
    "policy": ('[run]\npolicy = "conformance-open"', "1:1", "may not choose a policy"),
    "accept": ('[backend.bubblewrap]\naccept = ["landlock"]', "1:1", "may not accept"),
    "record": ('[record]\ndir = "/tmp/taken"', "1:1", "may not record runs"),
    "one among others": ('[limits]\ntime = "1m"\n\ncpu = "2h"', "4:1", "expected at most 10m"),
    "unknown": ("[limits]\ntme = 1", "2:1", "did you mean 'time'?"),
}  # fmt: skip


class Scene:
    """A user and a project with nothing in it yet."""

    def __init__(self, top: Path) -> None:
        self.top, self.project = top, top / "project"
        self.project.mkdir()
        self.file = self.project / "wardian.toml"
        kept = {k: v for k, v in environment().items() if not k.startswith(("XDG_", "WARDIAN_"))}
        self.env = kept | {
            "XDG_CONFIG_HOME": f"{top}/config",
            "XDG_STATE_HOME": f"{top}/state",
            "SECRET": "s3cret",
        }

    def wardian(self, *args: str) -> subprocess.CompletedProcess[str]:
        return call(*args, cwd=self.project, env=self.env, timeout_s=60)

    def limit(self, name: str = "time") -> str:
        done = self.wardian("config", "show", "--json")
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["settings"][f"limits.{name}"]["value"])

    def share(self) -> None:
        """A run whose guest may write to the project, and what it leaves there."""
        assert self.wardian("exec", "-q", "--work", ".", "--", "true").returncode == 0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.mark.parametrize("pyproject", [False, True], ids=["wardian.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", list(LOOSENING))
def test_a_project_that_would_loosen_is_refused_with_the_place(
    scene: Scene, kind: str, pyproject: bool
) -> None:
    text, at, said = LOOSENING[kind]
    path = scene.file
    if pyproject:
        path = scene.project / "pyproject.toml"
        text = text.replace("[", "[tool.wardian.", 1)
    path.write_text(text + "\n")
    done = scene.wardian("exec", "--", "sh", "-c", "echo ran; env; cat /etc/shadow")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith(f"error: {path}:{at}: "), done.stderr
    assert said in done.stderr
    # The neighbour: the same file with a value that tightens.
    path.write_text(("[tool.wardian.limits]" if pyproject else "[limits]") + '\ntime = "9m"\n')
    assert scene.limit() == "9m"


def test_what_a_guest_wrote_decides_nothing(scene: Scene) -> None:
    left = (
        "printf '[limits]\\ntime = \"1s\"\\n' > /work/wardian.toml;"
        "printf '[tool.wardian.limits]\\ntime = \"1s\"\\n' > /work/pyproject.toml;"
        "mkdir /work/sub; cp /work/wardian.toml /work/sub"
    )
    assert scene.wardian("exec", "--work", ".", "--", "sh", "-c", left).returncode == 0
    assert scene.file.exists()
    done = scene.wardian("exec", "--", "sleep", "1.5")
    assert done.returncode == 0
    assert "wardian.toml is ignored: a guest may have written it" in done.stderr
    scene.file.unlink()
    done = scene.wardian("exec", "--", "sleep", "1.5")
    assert done.returncode == 0
    assert "pyproject.toml is ignored: a guest may have written it" in done.stderr


@pytest.mark.parametrize("what", ["loosening", "garbage", "link", "fifo", "huge", "directory"])
def test_whatever_a_guest_leaves_there_a_run_goes_on(scene: Scene, what: str) -> None:
    scene.share()
    taken = scene.top / "taken.toml"
    taken.write_text('[limits]\ntime = "1s"\n')
    _lay(scene.file, what, taken)
    _lay(scene.project / "pyproject.toml", what, taken)
    started = time.monotonic()
    done = scene.wardian("exec", "--", "sleep", "1.2")
    assert done.returncode == 0, done.stderr
    assert "wardian.toml is ignored" in done.stderr
    assert time.monotonic() - started < 30
    assert scene.limit() == "10m"


def _lay(path: Path, what: str, taken: Path) -> None:
    if what == "link":
        path.symlink_to(taken)
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "directory":
        path.mkdir()
    elif what == "huge":
        with open(path, "wb") as file:
            file.write(b"[tool.wardian.limits]\n")
            file.truncate(1 << 34)
    else:
        path.write_text("[[[ wardian" if what == "garbage" else '[files]\nread = ["/"]\n')


@pytest.mark.parametrize(
    ("what", "said"),
    [("link", "is a link"), ("fifo", "is not a regular file"), ("huge", "is larger than"),
     ("directory", "Is a directory"), ("garbage", "")],
)  # fmt: skip
def test_where_only_the_user_writes_a_wrong_file_is_an_error(
    scene: Scene, what: str, said: str
) -> None:
    taken = scene.top / "taken.toml"
    taken.write_text('[limits]\ntime = "1s"\n')
    _lay(scene.file, what, taken)
    done = scene.wardian("exec", "--", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith(f"error: {scene.file}")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_file_of_another_user_decides_nothing(scene: Scene) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    scene.file.write_text('[limits]\ntime = "1m"\n')
    assert scene.limit() == "1m"
    os.chown(scene.file, 12345, 12345)
    assert scene.limit() == "10m"
    assert "it belongs to another user" in scene.wardian("exec", "--", "true").stderr
    os.chown(scene.file, 0, 0)
    scene.file.chmod(0o666)
    assert scene.limit() == "10m"
    assert "every user may write to it" in scene.wardian("exec", "--", "true").stderr


def test_this_run_may_not_write_its_own_settings(scene: Scene) -> None:
    scene.file.write_text('[limits]\ntime = "1m"\n')
    done = scene.wardian("exec", "--work", ".", "--json", "--", "true")
    limits: dict[str, Any] = {one["name"]: one for one in json.loads(done.stdout)["limits"]}
    assert limits["time"]["value"] == 600
    assert "is ignored: this run may write to" in done.stderr
    assert "is ignored" not in scene.wardian("exec", "-q", "--work", ".", "--", "true").stderr


def test_trusted_content_applies_and_a_guest_can_not_change_or_remove_it(scene: Scene) -> None:
    scene.share()
    scene.file.write_text('[limits]\ntime = "1m"\n')
    assert scene.limit() == "10m"
    assert scene.wardian("config", "trust").returncode == 0
    assert scene.limit() == "1m"
    ran = scene.wardian("exec", "--work", ".", "--json", "--", "true")
    assert {one["name"]: one["value"] for one in json.loads(ran.stdout)["limits"]}["time"] == 60
    file = "/work/wardian.toml"
    for act in (f"echo >> {file}", f"rm -f {file}; ln -s x {file}", f"rm -f {file}"):
        kept = scene.file.read_text()
        scene.wardian("exec", "--work", ".", "--", "sh", "-c", act)
        done = scene.wardian("exec", "--", "echo", "ran")
        assert (done.returncode, done.stdout) == (125, ""), act
        assert "trusted it" in done.stderr
        scene.file.unlink(missing_ok=True)
        scene.file.write_text(kept)
        assert scene.limit() == "1m"
    scene.file.unlink()
    assert scene.wardian("config", "untrust").returncode == 0
    assert scene.limit() == "10m"
    assert scene.wardian("config", "untrust").returncode == 3


def test_trust_is_in_the_table_of_a_pyproject_alone(scene: Scene) -> None:
    scene.share()
    path = scene.project / "pyproject.toml"
    table = '[tool.wardian.limits]\ntime = "1m"\n'
    path.write_text(table)
    assert scene.wardian("config", "trust", "pyproject.toml").returncode == 0
    path.write_text(f'[project]\nname = "other"\n{table}')
    assert scene.limit() == "1m"
    path.write_text(table.replace("1m", "2m"))
    assert scene.wardian("exec", "--", "true").returncode == 125


def test_what_would_loosen_can_not_be_trusted(scene: Scene) -> None:
    scene.share()
    scene.file.write_text('[limits]\ntime = "1h"\n')
    done = scene.wardian("config", "trust")
    assert done.returncode == 125
    assert "expected at most 10m" in done.stderr
    scene.file.unlink()
    scene.file.symlink_to("/etc/passwd")
    assert scene.wardian("config", "trust").returncode == 125
    scene.file.unlink()
    assert scene.wardian("config", "trust").returncode == 3


def test_a_guest_can_not_write_what_is_trusted(scene: Scene) -> None:
    scene.share()
    scene.file.write_text('[limits]\ntime = "1m"\n')
    assert scene.wardian("config", "trust").returncode == 0
    state = scene.top / "state" / "wardian" / "trusted-projects.json"
    before = state.read_bytes()
    top = str(scene.top)
    scene.wardian("exec", "--write", top, "--", "sh", "-c", f"echo x > {state}; rm -f {state}")
    assert state.read_bytes() == before
    state.write_text("{}")
    done = scene.wardian("exec", "--", "true")
    assert done.returncode == 125
    assert "is damaged" in done.stderr
