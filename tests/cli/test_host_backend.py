"""The backend ``host``: the same results as the others, and no protection."""

from __future__ import annotations

import os
import threading
import time

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox
from wardian.errors import BackendError


@pytest.fixture
def host(make_sandbox: MakeSandbox) -> Sandbox:
    """Runs commands as they are."""
    return make_sandbox(backend="host")


def test_output_input_and_exit_code(host: Sandbox) -> None:
    result = host.run(["sh", "-c", "cat; echo err >&2; exit 3"], input="in")
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"in", b"err\n")
    assert (result.reason, result.backend) == ("exited", "host")
    assert (result.usage.stdout_bytes, result.usage.stderr_bytes) == (2, 4)


def test_it_says_that_no_wall_stood(host: Sandbox) -> None:
    result = host.run(["true"])
    assert result.protections
    assert not any(wall.enforced for wall in result.protections)


def test_ends_have_the_same_codes_as_in_the_sandbox(host: Sandbox, sandbox: Sandbox) -> None:
    for command in (["no-such-program"], ["/tmp"], ["sh", "-c", "kill -9 $$"], ["false"]):
        ours, theirs = sandbox.run(command), host.run(command)
        assert (ours.exit_code, ours.reason) == (theirs.exit_code, theirs.reason)


def test_time_limits(host: Sandbox) -> None:
    began = time.monotonic()
    result = host.run(["sleep", "60"], timeout_s=0.3)
    assert (result.exit_code, result.reason) == (124, "time limit")
    assert time.monotonic() - began < 50


def test_output_limits(make_sandbox: MakeSandbox) -> None:
    policy = Policy.default().with_limits(output_bytes=1000)
    result = make_sandbox(policy, backend="host").run(["yes"])
    assert (result.reason, result.truncated, len(result.stdout)) == ("output limit", True, 1000)


def test_a_stray_child_that_keeps_the_pipe_is_not_waited_for(host: Sandbox) -> None:
    began = time.monotonic()
    result = host.run(["sh", "-c", "setsid sleep 30 & echo x"])
    assert result.text == "x\n"
    assert time.monotonic() - began < 25


def test_kill_and_signals(host: Sandbox) -> None:
    killed = host.start(["sleep", "60"])
    killed.kill()
    assert killed.wait(10).reason == "killed"
    signalled = host.start(["sleep", "60"])
    signalled.send_signal(15)
    result = signalled.wait(10)
    assert (result.exit_code, result.signal) == (143, 15)


def test_work_is_where_commands_start(host: Sandbox) -> None:
    host.files.write("a/b.txt", "text")
    assert host.run(["cat", "a/b.txt"]).text == "text"
    assert host.run(["cat", "b.txt"], cwd="/work/a").text == "text"
    assert host.run(["pwd"], cwd="/tmp").text == "/tmp\n"


def test_a_working_directory_that_is_not_there_is_an_error(host: Sandbox) -> None:
    with pytest.raises(BackendError, match="/does/not/exist"):
        host.run(["true"], cwd="/does/not/exist")


def test_only_named_variables_pass(host: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s")
    assert "SECRET" not in host.run(["env"]).text
    assert "GIVEN=x" in host.run(["env"], env={"GIVEN": "x"}).text


def test_nothing_is_left_open(host: Sandbox) -> None:
    host.run(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        host.run(["true"])
    with pytest.raises(BackendError):
        host.run(["true"], cwd="/does/not/exist")
    deadline = time.monotonic() + 5
    while _attending() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) == before


def _attending() -> bool:
    return any(thread.name == "wardian-host" for thread in threading.enumerate())
