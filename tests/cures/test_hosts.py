"""Cures that change the host: applied where the tests may change it, in user namespaces and with
limits of their own; and those that can't be applied here, shown to name the right thing."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, call, environment

from .test_cures import hint_of

HERE = Path(__file__).parent
BREAKING = HERE.parent / "faults" / "breaking.py"
KINDS = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
BACKENDS = {
    "wardian": [],
    "bubblewrap": ["--degrade", "landlock", "--degrade", "notify"],
    "gvisor": ["--degrade", "landlock", "--degrade", "notify", "--degrade", "identity"],
}
PROGRAMS = {"bubblewrap": "bwrap", "gvisor": "runsc"}


def cured(tmp_path: Path, settings: list[str], *words: str) -> dict[str, Any]:
    """What ``inside.py`` reports of ``wardian WORDS``."""
    inside = [sys.executable, "-I", str(HERE / "inside.py")]
    done = subprocess.run(
        [*inside, *settings, "--", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def needs_program(backend: str) -> None:
    if backend in PROGRAMS and shutil.which(PROGRAMS[backend]) is None:
        pytest.skip(f"{PROGRAMS[backend]} is not installed")


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_on_namespaces_is_named_and_raised(kind: str, tmp_path: Path) -> None:
    found = cured(tmp_path, [f"max_{kind}_namespaces=0"], "exec", "--", "true")
    assert found["first"]["code"] == 125
    assert found["cures"] == [f"sysctl -w user.max_{kind}_namespaces=28633"]
    assert found["again"]["code"] == 0, found["again"]


def test_two_limits_on_namespaces_are_raised_at_once(tmp_path: Path) -> None:
    limits = ["max_pid_namespaces=0", "max_uts_namespaces=0"]
    found = cured(tmp_path, limits, "exec", "--", "true")
    assert "user.max_pid_namespaces and user.max_uts_namespaces are 0" in found["first"]["stderr"]
    assert found["again"]["code"] == 0, found["again"]


@pytest.mark.parametrize("backend", PROGRAMS)
@pytest.mark.parametrize("kind", ["user", "mnt", "net"])
def test_another_backend_names_the_same_limit(backend: str, kind: str, tmp_path: Path) -> None:
    needs_program(backend)
    words = ["exec", "--backend", backend, *BACKENDS[backend], "--", "true"]
    found = cured(tmp_path, [f"max_{kind}_namespaces=0"], *words)
    assert found["cures"] == [f"sysctl -w user.max_{kind}_namespaces=28633"], found["first"]
    assert "docker" not in found["first"]["stderr"]
    assert found["again"]["code"] == 0, found["again"]


@pytest.mark.parametrize("kind", ["user", "mnt"])
def test_doctor_prints_a_cure_once_and_starts_no_program_then(kind: str, tmp_path: Path) -> None:
    found = cured(tmp_path, [f"max_{kind}_namespaces=0"], "doctor")
    text = found["first"]["stdout"]
    assert found["cures"] == [f"sysctl -w user.max_{kind}_namespaces=28633"], text
    assert "mount-max" not in text
    assert "wardian doctor" not in text
    programs = text.partition("Programs, started inside")[2]
    assert "yes " not in programs
    assert "not tested: the default policy does not run here" in programs
    assert found["again"]["code"] == 0, found["again"]
    assert "yes  sh" in found["again"]["stdout"].partition("Programs, started inside")[2]


def test_the_limit_on_mounts_is_raised_above_what_it_is(tmp_path: Path) -> None:
    done = broken(tmp_path, "errno:ENOSPC:429", "exec", "--", "true")
    cure = re.search(r"sudo sysctl -w fs\.mount-max=(\d+)", hint_of(done))
    assert cure, done.stderr
    now = int(Path("/proc/sys/fs/mount-max").read_text())
    assert int(cure[1]) > now or now < 100_000  # of the host as a whole: not for a test to change


def broken(tmp_path: Path, fault: str, *words: str) -> subprocess.CompletedProcess[str]:
    """``wardian WORDS`` in surroundings that tests/faults/breaking.py makes."""
    return subprocess.run(
        [sys.executable, "-I", str(BREAKING), fault, "--", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )


def test_a_wall_that_the_hint_names_is_given_up(tmp_path: Path) -> None:
    hint = hint_of(broken(tmp_path, "no-notify", "exec", "--", "true"))
    found = re.fullmatch(r"run with (--degrade notify): refusals still hold, but .*", hint)
    assert found, hint
    again = broken(tmp_path, "no-notify", "exec", *found[1].split(), "--", "true")
    assert again.returncode == 0, again.stderr


def test_landlock_is_given_up_where_the_kernel_has_none(tmp_path: Path) -> None:
    hint = hint_of(broken(tmp_path, "errno:ENOSYS:444,445,446", "exec", "--", "true"))
    found = re.fullmatch(r"run with (--degrade landlock), or use a kernel with Landlock .*", hint)
    assert found, hint
    words = ["exec", *found[1].split(), "--", "true"]
    again = broken(tmp_path, "errno:ENOSYS:444,445,446", *words)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("limit", "value", "name"),
    [
        (resource.RLIMIT_NOFILE, 12, "open files"),
        (resource.RLIMIT_NOFILE, 18, "open files"),
        (resource.RLIMIT_FSIZE, 0, "file sizes"),
    ],
)
def test_a_limit_of_the_shell_is_raised(limit: int, value: int, name: str, tmp_path: Path) -> None:
    def few() -> None:
        resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))

    hint = hint_of(ran(tmp_path, COMMAND, few))
    found = re.fullmatch(rf"raise the limit on {name}: (ulimit -\w \w+)", hint)
    assert found, hint
    again = ran(tmp_path, ["sh", "-c", f'{found[1]}; exec "$@"', "sh", *COMMAND], few)
    assert again.returncode == 0, again.stderr


def ran(
    tmp_path: Path, command: list[str], first: Callable[[], None], **changes: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, "exec", "--", "true"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=environment(**changes),
        preexec_fn=first,
        check=False,
    )


@pytest.mark.parametrize("backend", PROGRAMS)
def test_a_missing_program_is_in_the_package_that_the_hint_names(
    backend: str, tmp_path: Path
) -> None:
    """It can't be installed here: no network. The package is the one that has the program."""
    needs_program(backend)
    words = ["exec", "--backend", backend, *BACKENDS[backend], "--", "true"]
    done = call(*words, cwd=tmp_path, env=environment(PATH=str(tmp_path)))
    found = re.match(r"sudo apt install (\w+)", hint_of(done))
    assert found, done.stderr
    if shutil.which("dpkg-query") is None:
        pytest.skip("dpkg-query is not installed")
    owner = subprocess.run(
        ["dpkg-query", "-S", os.path.realpath(str(shutil.which(PROGRAMS[backend])))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert owner.stdout.startswith(f"{found[1]}:"), owner


@pytest.mark.parametrize("backend", PROGRAMS)
def test_a_backend_that_fails_can_be_tried_by_itself(backend: str) -> None:
    needs_program(backend)
    from wardian.sandbox.backends import bwrap, runsc

    alone = {"bubblewrap": bwrap.ALONE, "gvisor": runsc.ALONE}[backend]
    done = subprocess.run([PROGRAMS[backend], *alone.split()], timeout=60, check=False)
    assert done.returncode == 0


def test_another_temporary_directory_is_used(tmp_path: Path) -> None:
    closed = tmp_path / "file"
    closed.write_text("")
    words = ["exec", "--backend", "host", "--", "true"]
    done = call(*words, cwd=tmp_path, env=environment(TMPDIR=str(closed)))
    assert hint_of(done) == "set TMPDIR to a directory with free space, or name a work directory"
    again = call(*words, cwd=tmp_path, env=environment(TMPDIR=str(tmp_path)))
    assert again.returncode == 0, again.stderr
    work = call("exec", "--work", tmp_path, "--", "true", cwd=tmp_path, env=environment())
    assert work.returncode == 0, work.stderr


def test_a_directory_of_sandboxes_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "wardian").mkdir(mode=0o755)
    env = environment(XDG_RUNTIME_DIR=str(tmp_path))
    hint = hint_of(call("up", "cured", cwd=tmp_path, env=env))
    found = re.fullmatch(r"close it: (chmod 700 \S+)", hint)
    assert found, hint
    subprocess.run(found[1].split(), check=True)
    again = call("up", "cured", cwd=tmp_path, env=env)
    assert again.returncode == 0, again.stderr
    twice = hint_of(call("up", "cured", cwd=tmp_path, env=env))
    commands = re.fullmatch(r"use it: wardian (.* -- )COMMAND; or end it: wardian (.*)", twice)
    assert commands, twice
    assert call(*commands[1].split(), "true", cwd=tmp_path, env=env).returncode == 0
    assert call(*commands[2].split(), cwd=tmp_path, env=env).returncode == 0
    assert call("up", "cured", cwd=tmp_path, env=env).returncode == 0
    assert call("down", "cured", cwd=tmp_path, env=env).returncode == 0


def test_a_runtime_directory_that_is_a_file_is_set_or_unset(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.write_text("")
    done = call("up", "cured", cwd=tmp_path, env=environment(XDG_RUNTIME_DIR=str(place)))
    assert hint_of(done) == "set XDG_RUNTIME_DIR to a directory that you own, or unset it"
    own = environment(XDG_RUNTIME_DIR=str(tmp_path))
    unset = environment(HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path / "state"))
    unset.pop("XDG_RUNTIME_DIR", None)
    for env in (own, unset):
        assert call("up", "cured", cwd=tmp_path, env=env).returncode == 0
        assert call("down", "cured", cwd=tmp_path, env=env).returncode == 0


def test_a_secret_is_set_for_wardian_and_kept_from_the_guest(tmp_path: Path) -> None:
    pytest.importorskip("h11", reason="h11 is not installed")
    rule = '"api.example.com" = {secret = {header = "Authorization", from = "%s"}}'
    policy = tmp_path / "policy.toml"
    policy.write_text("[network.tls]\n" + rule % "env:API_KEY")
    words = ["exec", "--policy", policy, "--", "sh", "-c", "! env | grep API_KEY"]
    unset = call(*words, cwd=tmp_path, env=environment())
    assert hint_of(unset) == "set API_KEY for wardian itself; the guest does not get it"
    given = environment(API_KEY="s3cret")
    assert call(*words, cwd=tmp_path, env=given).returncode == 0
    passed = call("exec", "--env", "API_KEY", *words[1:], cwd=tmp_path, env=given)
    assert hint_of(passed) == "remove API_KEY from the run's environment"
    shared, kept = tmp_path / "shared", tmp_path / "kept"
    for place in (shared, kept):
        place.mkdir()
        (place / "key").write_text("s3cret")
    policy.write_text("[network.tls]\n" + rule % f"file:{shared}/key")
    with_share = ["exec", "--policy", policy, "--read", shared, "--", "true"]
    inside = call(*with_share, cwd=tmp_path, env=environment())
    assert hint_of(inside) == "keep it outside of what is shared"
    policy.write_text("[network.tls]\n" + rule % f"file:{kept}/key")
    outside = call(*with_share, cwd=tmp_path, env=environment())
    assert outside.returncode == 0, outside.stderr


def test_a_sandbox_whose_process_was_killed_is_started_again(tmp_path: Path) -> None:
    env = environment(XDG_RUNTIME_DIR=str(tmp_path))
    assert call("up", "cured", cwd=tmp_path, env=env).returncode == 0
    near = hint_of(call("exec", "--sandbox", "curd", "--", "true", cwd=tmp_path, env=env))
    assert near == "did you mean cured? running: cured"
    listed = json.loads(call("ps", "--json", cwd=tmp_path, env=env).stdout)
    os.kill(listed["sandboxes"][0]["pid"], 9)
    done = call("exec", "--sandbox", "cured", "--", "true", cwd=tmp_path, env=env)
    found = re.fullmatch(r"start it again: wardian (up cured)", hint_of(done))
    assert found, done.stderr
    assert call(*found[1].split(), cwd=tmp_path, env=env).returncode == 0
    again = call("exec", "--sandbox", "cured", "--", "true", cwd=tmp_path, env=env)
    assert again.returncode == 0, again.stderr
    assert call("down", "cured", cwd=tmp_path, env=env).returncode == 0
