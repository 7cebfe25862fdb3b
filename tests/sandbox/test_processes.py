"""``Sandbox.start`` and ``run_async``: handles, signals, cancelling, many at once."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import threading
import time

import pytest

from tests.conftest import OPEN_FILES, alive, launchers
from wardian import Sandbox, WardianError
from wardian.errors import SandboxError

PYTHON = os.path.realpath(sys.executable)


def until(condition: object, timeout_s: float = 20) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_started_run_is_waited_for(sandbox: Sandbox) -> None:
    process = sandbox.start(["sh", "-c", "cat; exit 3"], input=b"hello")
    result = process.wait(30)
    assert (result.exit_code, result.stdout) == (3, b"hello")
    assert process.wait() is result
    assert process.ended


def test_waiting_can_time_out_and_go_on(sandbox: Sandbox) -> None:
    process = sandbox.start(["sleep", "100"])
    with pytest.raises(TimeoutError):
        process.wait(0.1)
    assert not process.ended
    process.kill()
    assert process.wait(10).reason == "killed"


def test_killing_ends_every_process_of_the_run(fresh_sandbox: Sandbox) -> None:
    pieces: list[bytes] = []
    process = fresh_sandbox.start(
        ["sh", "-c", "trap '' TERM; setsid sleep 100 & echo up; sleep 100"],
        on_stdout=pieces.append,
        keep=True,
    )
    assert until(lambda: pieces)
    process.kill()
    result = process.wait(30)
    assert (result.exit_code, result.reason, result.text) == (137, "killed", "up\n")
    assert not alive(process.pid)
    process.kill()  # does nothing any more
    process.send_signal(signal.SIGTERM)


def test_a_stopped_guest_can_be_killed(sandbox: Sandbox) -> None:
    process = sandbox.start(["sleep", "100"])
    time.sleep(0.2)
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    process.kill()
    assert process.wait(10).reason == "killed"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGQUIT"])
def test_a_signal_reaches_the_guest(name: str, sandbox: Sandbox) -> None:
    pieces: list[bytes] = []
    number = signal.Signals[name]
    script = f"trap 'echo got; exit 7' {name[3:]}; echo up; while :; do sleep 0.05; done"
    process = sandbox.start(["sh", "-c", script], on_stdout=pieces.append, keep=True)
    assert until(lambda: pieces)
    process.send_signal(number)
    result = process.wait(20)
    assert (result.exit_code, result.text) == (7, "up\ngot\n")


def test_a_signal_that_is_not_handled_ends_the_guest(sandbox: Sandbox) -> None:
    pieces: list[bytes] = []
    process = sandbox.start(["sh", "-c", "echo up; exec sleep 100"], on_stdout=pieces.append)
    assert until(lambda: pieces)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20).exit_code == 128 + signal.SIGTERM


def test_the_launcher_killed_takes_the_guest_along_and_is_told(fresh_sandbox: Sandbox) -> None:
    pieces: list[bytes] = []
    process = fresh_sandbox.start(["sh", "-c", "echo up; sleep 100"], on_stdout=pieces.append)
    assert until(lambda: pieces)
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(SandboxError, match="supervisor was killed"):
        process.wait(10)


def test_what_a_callback_raises_comes_from_wait(sandbox: Sandbox) -> None:
    def fail(_: bytes) -> None:
        raise RuntimeError("enough")

    process = sandbox.start(["sh", "-c", "echo x; sleep 100"], on_stdout=fail)
    with pytest.raises(RuntimeError, match="enough"):
        process.wait(10)


def test_a_run_that_can_t_be_set_up_raises_from_wait(sandbox: Sandbox) -> None:
    process = sandbox.start(["true"], cwd="/nowhere")
    with pytest.raises(SandboxError, match="/nowhere"):
        process.wait(10)


def test_many_handles_live_side_by_side(sandbox: Sandbox) -> None:
    processes = [sandbox.start(["sh", "-c", f"cat; echo {n}"], input=b"x" * n) for n in range(30)]
    for n, process in enumerate(processes):
        assert process.wait(60).text == "x" * n + f"{n}\n"


def test_a_hundred_run_at_the_same_time(sandbox: Sandbox) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < OPEN_FILES:
        pytest.skip(f"needs {OPEN_FILES} open files, see ulimit -n")
    script = "until [ -e go ]; do sleep 0.5; done"
    processes = [sandbox.start(["sh", "-c", script]) for _ in range(100)]
    assert not any(process.ended for process in processes)
    sandbox.files.write("go", b"")
    assert [process.wait(100).exit_code for process in processes] == [0] * 100


# asyncio


def test_many_async_runs_share_the_loop_and_do_not_block_it(sandbox: Sandbox) -> None:
    """Each waits for all the others, and all of them for a task of the loop."""

    async def main() -> list[str]:
        async def let_go() -> None:
            while len(sandbox.files.list()) < 20:
                await asyncio.sleep(0.01)
            sandbox.files.write("go", b"")

        task = asyncio.create_task(let_go())
        script = "touch $0; until [ -e go ]; do sleep 0.1; done; cat; echo $0"
        runs = [
            sandbox.run_async(["sh", "-c", script, str(n)], input=b"x" * 100_000) for n in range(20)
        ]
        results = await asyncio.gather(*runs)
        await task
        return [result.text[100_000:] for result in results]

    assert asyncio.run(main()) == [f"{n}\n" for n in range(20)]


def test_cancelling_ends_the_run(fresh_sandbox: Sandbox) -> None:
    pieces: list[bytes] = []

    async def main() -> None:
        run = fresh_sandbox.run_async(["sh", "-c", "echo up; sleep 100"], on_stdout=pieces.append)
        task = asyncio.create_task(run)
        while not pieces:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = sorted(os.listdir("/proc/self/fd"))
    fresh_sandbox.run(["true"])
    start = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - start < 10
    fresh_sandbox.close()
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert not launchers()


def test_a_timeout_around_an_async_run_works(sandbox: Sandbox) -> None:
    async def main() -> None:
        await asyncio.wait_for(sandbox.run_async(["sleep", "100"]), 0.3)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_async_errors_are_the_same(sandbox: Sandbox) -> None:
    with pytest.raises(WardianError, match="/nowhere"):
        asyncio.run(sandbox.run_async(["true"], cwd="/nowhere"))
    assert asyncio.run(sandbox.run_async(["false"])).exit_code == 1

    def fail(_: bytes) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        asyncio.run(sandbox.run_async(["sh", "-c", "echo x; sleep 100"], on_stdout=fail))


def test_async_runs_work_in_a_thread_s_own_loop(sandbox: Sandbox) -> None:
    found: list[str] = []

    def work() -> None:
        found.append(asyncio.run(sandbox.run_async(["echo", "hi"])).text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == ["hi\n"] * 4
