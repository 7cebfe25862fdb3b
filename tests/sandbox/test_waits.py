"""Every wait for a run has an end, whoever is stopped, killed, or holds a pipe open."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox, alive
from wardian import Sandbox
from wardian.errors import BackendError, UsageError, WardianError
from wardian.sandbox.run import child
from wardian.sandbox.run import process as waiting
from wardian.sandbox.run.launcher import FD_FIRST_STREAM, FD_STATUS
from wardian.sandbox.run.process import Process

SOON_S = 15.0
WARDIAN = [sys.executable, "-m", "wardian"]


@pytest.fixture
def sandbox(fresh_sandbox: Sandbox) -> Sandbox:
    """Each run has a supervisor of its own to be killed or stopped."""
    return fresh_sandbox


@pytest.fixture(params=["fresh", "living"])
def either(request: pytest.FixtureRequest, make_sandbox: MakeSandbox) -> Sandbox:
    """What holds for both kinds."""
    return make_sandbox(fresh=request.param == "fresh")


@contextmanager
def held_open(pid: int, *numbers: int) -> Iterator[None]:
    """Someone else has the launcher's ends of pipes, as a process forked at a bad moment does."""
    held = [os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY) for number in numbers]
    try:
        yield
    finally:
        for fd in held:
            os.close(fd)


def started(sandbox: Sandbox, script: str = "echo up; sleep 100") -> Process:
    pieces: list[bytes] = []
    process = sandbox.start(["sh", "-c", script], on_stdout=pieces.append, keep=True)
    deadline = time.monotonic() + SOON_S
    while not pieces and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pieces
    return process


def test_a_run_ends_although_someone_else_holds_its_pipes(sandbox: Sandbox) -> None:
    process = started(sandbox, "echo up; sleep 1; echo down")
    with held_open(process.pid, FD_STATUS, FD_FIRST_STREAM + 1, FD_FIRST_STREAM + 2):
        result = process.wait(SOON_S)
    assert (result.exit_code, result.stdout) == (0, b"up\ndown\n")


def test_a_killed_supervisor_is_noticed_although_someone_else_holds_its_pipes(
    sandbox: Sandbox,
) -> None:
    process = started(sandbox)
    with held_open(process.pid, FD_STATUS, FD_FIRST_STREAM + 1):
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(BackendError, match="the supervisor was killed"):
            process.wait(SOON_S)


def test_the_same_on_an_event_loop(sandbox: Sandbox) -> None:
    async def run() -> None:
        process = sandbox._start(sandbox._job(["sleep", "100"]))
        task = asyncio.create_task(process.pump_async())
        await asyncio.sleep(0.3)
        with held_open(process.pid, FD_STATUS, FD_FIRST_STREAM + 1):
            os.kill(process.pid, signal.SIGKILL)
            with pytest.raises(BackendError, match="the supervisor was killed"):
                await asyncio.wait_for(task, SOON_S)

    sandbox.run(["true"])  # from here on its work directory is open
    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(run())
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_stopped_supervisor_is_ended_by_kill(sandbox: Sandbox) -> None:
    process = started(sandbox)
    os.kill(process.pid, signal.SIGSTOP)
    process.kill()
    with pytest.raises(BackendError, match="the supervisor was killed"):
        process.wait(SOON_S)
    assert not alive(process.pid)


def test_a_sandbox_is_closed_although_a_supervisor_is_stopped(either: Sandbox) -> None:
    process, path = started(either), Path(either.work_path)
    os.kill(process.pid, signal.SIGSTOP)
    began = time.monotonic()
    either.close()
    assert time.monotonic() - began < SOON_S
    assert process.ended
    assert not path.exists()


def test_a_time_limit_that_a_stopped_supervisor_can_not_hold_is_held_outside(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "OVERDUE_S", 1.0)
    monkeypatch.setattr(waiting, "TICK_S", 0.5)
    pieces: list[bytes] = []
    process = sandbox.start(["sh", "-c", "echo; sleep 50"], timeout_s=1, on_stdout=pieces.append)
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(BackendError):
        process.wait(SOON_S)


def test_abandoning_a_stopped_run_ends(either: Sandbox) -> None:
    process = either._start(either._job(["sleep", "100"]))
    os.kill(process.pid, signal.SIGSTOP)
    began = time.monotonic()
    process.abandon()
    assert time.monotonic() - began < SOON_S
    assert not alive(process.pid)


def test_a_callback_may_close_the_sandbox(either: Sandbox) -> None:
    began = time.monotonic()
    result = either.run(
        ["sh", "-c", "echo up; sleep 100"], on_stdout=lambda data: either.close(), keep=True
    )
    assert (result.reason, result.stdout) == ("killed", b"up\n")
    assert time.monotonic() - began < SOON_S
    with pytest.raises(UsageError, match="closed"):
        either.run(["true"])


def test_a_run_lives_as_long_as_its_handle_and_so_does_its_directory() -> None:
    sandbox = Sandbox.create()
    path = Path(sandbox.work_path)
    process = sandbox.start(["sh", "-c", "sleep 1; echo here > file; cat file"])
    del sandbox
    assert process.wait(SOON_S).stdout == b"here\n"
    del process
    assert not path.exists()


def test_waiting_in_a_forked_process_is_refused_rather_than_endless(sandbox: Sandbox) -> None:
    process = started(sandbox)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            process.wait(5)
        except UsageError:
            code = 7
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    process.kill()
    assert process.wait(SOON_S).reason == "killed"


def test_a_process_that_was_forked_off_closes_nothing(sandbox: Sandbox) -> None:
    process = started(sandbox, "echo up; sleep 1; echo down")
    pid = os.fork()
    if pid == 0:
        try:
            sandbox.close()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert Path(sandbox.work_path).is_dir()
    assert process.wait(SOON_S).stdout == b"up\ndown\n"


def test_a_reader_who_does_not_read_is_not_waited_for_after_a_kill(tmp_path: Path) -> None:
    """The guest has ended; its last bytes lie with the supervisor, and nobody takes them."""
    done = tmp_path / "done"
    script = "head -c 100000 /dev/zero; touch done"
    command = [*WARDIAN, "exec", "--work", str(tmp_path), "--", "sh", "-c", script]
    reader, writer = os.pipe()
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        deadline = time.monotonic() + SOON_S
        while not done.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        assert process.poll() is None  # someone may still read
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        process.wait(timeout=SOON_S)
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_a_command_without_a_sandbox_may_remove_its_own_directory() -> None:
    with Sandbox(backend_name="host", private_work=True) as sandbox:
        process = sandbox.start(["sh", "-c", 'cd / && rmdir "$OLDPWD"'])
        assert process.wait(SOON_S).exit_code == 0


LET_GO = """
import os, sys, time
from wardian import Sandbox
sandbox = Sandbox.create()
process = sandbox.start(["sleep", "100"])
time.sleep(0.3)
print(sandbox.work_path, flush=True)
os.close(process._control)  # as the kernel does for a process that is killed, before it is dead
time.sleep({gap})
os.kill(os.getpid(), 9)
"""


def test_a_caller_that_takes_its_time_to_die_leaves_nothing_either(tmp_path: Path) -> None:
    """Its descriptors are closed first; on a busy machine, the rest may come much later."""
    env = os.environ | {"TMPDIR": str(tmp_path)}
    code = LET_GO.format(gap=1.0)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    path = Path(done.stdout.strip())
    assert path.parent == tmp_path, done.stderr
    deadline = time.monotonic() + SOON_S
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not path.exists()


def descendants(pid: int) -> list[int]:
    """Of a process that may end at any moment: then it has none."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    except OSError:
        pass
    return found + [one for child in found for one in descendants(child)]


@pytest.mark.parametrize("seed", range(3))
def test_a_caller_comes_back_whoever_is_killed_at_whatever_moment(seed: int) -> None:
    """The launcher, the guest's first process, the guest, during the first milliseconds: a process
    that waited for the supervisor's answer once held up the kernel, and with it the caller."""
    chance = random.Random(seed)
    with Sandbox.create(fresh=True) as sandbox:
        for _ in range(60):
            process = sandbox.start(["sh", "-c", "cat /nothing /etc/nothing; ls / > /dev/null"])
            time.sleep(chance.random() * 0.012)
            tree = [process.pid, *descendants(process.pid)]
            victim = chance.choice(tree)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
            try:
                process.wait(SOON_S)
            except WardianError:
                pass  # which one it is depends on the moment
            assert not [pid for pid in tree if hangs(pid)]


def hangs(pid: int) -> bool:
    """Is it still there a while later, and can't be interrupted?"""
    deadline = time.monotonic() + SOON_S
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return alive(pid)
