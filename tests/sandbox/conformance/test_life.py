"""Many at once, and nothing left: not a process, not a directory, not a descriptor."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import wardian
from tests.sandbox.conformance.conftest import (
    LONGEST_S,
    PYTHON,
    Box,
    attending,
    children,
    eventually,
)
from wardian import Sandbox
from wardian.errors import UsageError
from wardian.sandbox.workdir import sweep


def test_runs_from_many_threads_do_not_mix(sandbox: Sandbox) -> None:
    seen: dict[int, str] = {}

    def work(i: int) -> None:
        seen[i] = sandbox.run(["sh", "-c", "cat; echo $0", str(i)], input=f"{i}-").text

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_S)
    assert seen == {i: f"{i}-{i}\n" for i in range(6)}


def test_a_run_outlives_the_thread_that_started_it(sandbox: Sandbox) -> None:
    """What the kernel ties to a thread must not be tied to the caller's."""
    started: list[wardian.Process] = []
    thread = threading.Thread(
        target=lambda: started.append(sandbox.start(["sh", "-c", "sleep 1; echo done"]))
    )
    thread.start()
    thread.join()
    assert started[0].wait(LONGEST_S).text == "done\n"


def test_runs_on_an_asyncio_loop(sandbox: Sandbox) -> None:
    async def several() -> list[str]:
        runs = [sandbox.run_async(["sh", "-c", f"echo {i}"]) for i in range(3)]
        return [result.text for result in await asyncio.gather(*runs)]

    assert asyncio.run(several()) == ["0\n", "1\n", "2\n"]


def test_cancelling_an_asyncio_run_ends_it(box: Box, sandbox: Sandbox) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(sandbox.run_async(["sleep", "90"]))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = children()
    asyncio.run(cancelled())
    assert eventually(lambda: children() <= before)


def test_a_closed_sandbox_runs_nothing(sandbox: Sandbox) -> None:
    sandbox.run(["true"])
    sandbox.close()
    with pytest.raises(UsageError, match="closed"):
        sandbox.run(["true"])


def test_nothing_is_left_after_a_run(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:3]:
        if parent.name.startswith(("pytest-", "popen-")) and os.access(parent, os.W_OK):
            parent.chmod(parent.stat().st_mode | 0o011)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = (children(), len(os.listdir("/proc/self/fd")))
    sandbox = box.make()
    for command in (["true"], ["no-such-program"], ["sh", "-c", "setsid sleep 40 & kill -9 $$"]):
        if box.is_host and "setsid" in command[-1]:
            continue
        sandbox.run(command)
    assert sandbox.run(["sleep", "60"], timeout_s=1).exit_code == 124
    process = sandbox.start(["sleep", "60"])
    process.kill()
    process.wait(LONGEST_S)
    assert eventually(lambda: not attending())
    sandbox.close()  # with it goes the place that waits for its next run
    assert (children(), len(os.listdir("/proc/self/fd"))) == before
    assert list(tmp_path.iterdir()) == []


# It may come between an open and its with; Python closes that file when it collects it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("moment_s", [0.0, 0.01, 0.05, 0.3, 1.0])
def test_an_interruption_leaves_nothing_running(
    moment_s: float, box: Box, sandbox: Sandbox
) -> None:
    """Ctrl-C in a program that uses wardian, while the run starts or is under way."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    sandbox.run(["true"])
    before = children()
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the clock is part of it
            signal.setitimer(signal.ITIMER_REAL, moment_s or 0.0005)
            sandbox.run(["sleep", "90"])
            time.sleep(5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert eventually(lambda: children() <= before)
    assert eventually(lambda: not attending())


CALLER = """
import sys, threading
from wardian import Policy, Sandbox
from wardian.sandbox.backends import shortfall
name, mark = sys.argv[1:]
policy = Policy.default()
policy = policy.but(degrade=shortfall(name, policy))
sandbox = Sandbox.create(policy, backend=name)
script = f"(setsid sleep {mark} &); echo up; sleep {mark}"
sandbox.run(["sh", "-c", script], on_stdout=lambda data: print("up", flush=True))
"""


@pytest.mark.parametrize("moment_s", [None, 0.02, 0.1, 0.2])
def test_a_caller_that_is_killed_takes_all_of_it_along(
    moment_s: float | None, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By SIGKILL, while it is under way, or at some moment of its start."""
    if not box.stands("namespace.pid"):
        pytest.skip(f"{box.name} has no processes of its own to end, and says so")
    place = Path("/var/tmp") / f"conformance-{os.getpid()}-{time.monotonic_ns()}"
    place.mkdir(mode=0o755)
    mark = str(100_000 + time.monotonic_ns() % 100_000_000)  # seconds to sleep: tells it apart
    environment = os.environ | {
        "TMPDIR": str(place),
        "PYTHONPATH": os.path.dirname(os.path.dirname(wardian.__file__)),
    }
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, box.name, mark], stdout=subprocess.PIPE, env=environment
    )
    try:
        assert caller.stdout is not None
        if moment_s is None:
            assert caller.stdout.readline() == b"up\n"
        else:
            assert eventually(lambda: bool(list(place.iterdir())))
            time.sleep(moment_s)
    finally:
        caller.kill()
        caller.wait()
        caller.stdout.close() if caller.stdout else None
    assert eventually(lambda: not _marked(mark, str(place))), _marked(mark, str(place))
    if moment_s is not None:
        sweep(str(place))  # before anything was started there was nobody to clean up; the next does
    assert eventually(lambda: list(place.iterdir()) == []), list(place.iterdir())
    place.rmdir()


def _marked(*marks: str) -> list[str]:
    """Processes, of this test alone, that are still alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if any(mark.encode() in words for mark in marks):
            found.append(f"{path.parent.name}: {words!r}")
    return found


def test_signals_that_the_caller_ignores_or_blocks_are_no_matter(box: Box) -> None:
    """bwrap by itself would wait for ever where SIGCHLD is ignored."""
    program = (
        "import signal, sys\n"
        "from wardian import Policy, Sandbox\n"
        "from wardian.sandbox.backends import shortfall\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "name = sys.argv[1]\npolicy = Policy.default()\n"
        "policy = policy.but(degrade=shortfall(name, policy))\n"
        "with Sandbox.create(policy, backend=name) as sandbox:\n"
        "    command = ['sh', '-c', 'kill -TERM $$; kill -USR1 $$']\n"
        "    try: print(sandbox.run(command, timeout_s=60).exit_code)\n"
        "    except Exception as error: print(error)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(wardian.__file__))}
    done = subprocess.run(
        [sys.executable, "-c", program, box.name],
        capture_output=True, text=True, timeout=LONGEST_S, check=False, env=environment,
    )  # fmt: skip
    assert done.stdout == "143\n", done.stderr


def test_no_module_of_a_test_is_needed_inside(sandbox: Sandbox) -> None:
    assert sandbox.run([PYTHON, "-I", "-c", "import json, ssl, ctypes; print(1)"]).text == "1\n"
