"""How a run ends, and what its result says of it, whatever stands behind it."""

from __future__ import annotations

import signal
import time

import pytest

from tests.sandbox.conformance.conftest import LONGEST_S, PYTHON, Box, eventually
from wardian import Sandbox
from wardian.errors import CommandFailed, SandboxError, ShareError, UsageError
from wardian.sandbox.policy.policy import Share


def test_the_command_s_own_code_is_the_result_s(sandbox: Sandbox) -> None:
    for code in (0, 3, 124, 125, 126, 127, 255):
        result = sandbox.run(["sh", "-c", f"exit {code}"])
        assert (result.exit_code, result.reason, result.signal) == (code, "exited", None)


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "USR1"])
def test_death_by_a_signal_is_128_and_its_number(name: str, sandbox: Sandbox) -> None:
    number = signal.Signals[f"SIG{name}"]
    result = sandbox.run(["sh", "-c", f"kill -{int(number)} $$"])
    assert (result.exit_code, result.reason, result.signal) == (128 + number, "signal", number)


def test_a_missing_program_is_127_and_named(sandbox: Sandbox) -> None:
    for name in ("no-such-program", "/no/such/program", "./nothing"):
        result = sandbox.run([name])
        assert (result.exit_code, result.reason) == (127, "not found"), name
        assert name in result.detail
        assert (result.stdout, result.stderr) == (b"", b"")


def test_what_can_t_be_executed_is_126(sandbox: Sandbox) -> None:
    sandbox.files.write("plain", "text")
    sandbox.files.write("orphan", "#!/no/such/interpreter\n", executable=True)
    sandbox.files.write("dir/f", "")
    for name in ("plain", "orphan", "dir"):
        result = sandbox.run([f"./{name}"])
        assert (result.exit_code, result.reason) == (126, "not executable"), name
        assert result.detail, name
        assert result.stderr == b"", name


def test_a_script_of_the_work_directory_runs(sandbox: Sandbox) -> None:
    sandbox.files.write("script", "#!/bin/sh\necho $(basename $0) $1\n", executable=True)
    assert sandbox.run(["./script", "x"]).text == "script x\n"


def test_a_share_that_is_not_there_is_an_error_of_125(box: Box) -> None:
    with pytest.raises(ShareError, match="/no/such/place") as caught:
        box.sharing(Share("/no/such/place", "/mnt/x")).run(["true"])
    assert caught.value.exit_code == 125


def test_a_working_directory_that_is_not_there_is_an_error_of_125(sandbox: Sandbox) -> None:
    for cwd in ("/no/such/dir", "/work/nothing"):
        with pytest.raises(SandboxError, match=cwd.rpartition("/")[2]) as caught:
            sandbox.run(["true"], cwd=cwd)
        assert caught.value.exit_code == 125
    assert sandbox.files.list() == []


def test_what_is_no_command_is_a_usage_error(sandbox: Sandbox) -> None:
    for command in ([], [""], ["a\0b"]):
        with pytest.raises(UsageError):
            sandbox.run(command)


def test_check_turns_a_bad_end_into_an_exception(sandbox: Sandbox) -> None:
    with pytest.raises(CommandFailed) as caught:
        sandbox.run(["sh", "-c", "exit 9"]).check()
    assert caught.value.exit_code == 9


def test_time_is_up_is_124_and_what_was_said_is_kept(sandbox: Sandbox) -> None:
    script = "echo begun; trap '' TERM INT HUP; sleep 100"
    result = sandbox.run(["sh", "-c", script], timeout_s=3)
    assert (result.exit_code, result.reason, result.text) == (124, "time limit", "begun\n")
    assert [limit.name for limit in result.limits if limit.struck] == ["time"]


def test_a_timeout_never_loosens_the_policy_s(box: Box) -> None:
    began = time.monotonic()
    assert box.limited(time_s=0.5).run(["sleep", "90"], timeout_s=90).exit_code == 124
    assert time.monotonic() - began < 60


def test_the_time_limit_ends_processes_of_other_sessions_too(box: Box, sandbox: Sandbox) -> None:
    """Where processes have a namespace of their own, nothing of theirs outlives the run."""
    beat = "for i in $(seq 400); do echo . >> beat; sleep 0.05; done"
    script = 'setsid sh -c "$1" & while :; do sleep 1; done'
    result = sandbox.run(["sh", "-c", script, "sh", beat], timeout_s=4)
    assert result.reason == "time limit"
    if box.stands("namespace.pid"):
        size = len(sandbox.files.read("beat"))
        assert size > 0
        time.sleep(0.5)
        assert len(sandbox.files.read("beat")) == size


def test_kill_ends_a_run(sandbox: Sandbox) -> None:
    process = sandbox.start(["sleep", "90"])
    process.kill()
    result = process.wait(LONGEST_S)
    assert (result.exit_code, result.reason) == (137, "killed")
    process.kill()


def test_a_signal_reaches_the_command(sandbox: Sandbox) -> None:
    said: list[bytes] = []
    script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.1; done"
    process = sandbox.start(["sh", "-c", script], on_stdout=said.append, keep=True)
    assert eventually(lambda: bool(said), LONGEST_S)
    process.send_signal(signal.SIGTERM)
    result = process.wait(LONGEST_S)
    assert (result.exit_code, result.text) == (7, "ready\ncaught\n")


def test_the_result_names_its_backend_and_its_policy(box: Box) -> None:
    assert box.said.backend == box.name
    assert box.said.policy_digest == box.policy().digest
    assert box.said.document()["backend"] == box.name


def test_what_was_used_is_told(sandbox: Sandbox) -> None:
    burn = (
        "import time\nx = b'1' * (64 << 20)\nend = time.monotonic() + 1.5\n"
        "while time.monotonic() < end: pass"
    )
    usage = sandbox.run([PYTHON, "-c", burn]).usage
    assert usage.wall_s >= 1.5
    assert usage.cpu_s >= 0.1
    assert usage.peak_memory_bytes > 64 << 20
    assert usage.processes >= 1
