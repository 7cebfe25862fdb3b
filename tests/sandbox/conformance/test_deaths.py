"""Whichever of our own processes is killed, nothing of the run outlives it: not in a session of its
own, not twice forked."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.sandbox.conformance.conftest import LONGEST_S, PYTHON, Box, eventually
from wardian import Process, Sandbox
from wardian.errors import WardianError

SCRIPT = (
    "trap '' HUP INT TERM; (setsid sleep 300 &); (setsid setsid sleep 300 &); "
    "nohup sleep 300 >/dev/null 2>&1 & echo up; sleep 300"
)


class Life(tuple[int, str]):
    """A process, told apart from a later one of the same number."""

    __slots__ = ()

    @property
    def lasts(self) -> bool:
        return started(self[0]) == self[1]


def started(pid: int) -> str:
    """When it started; nothing if it is gone, or only waits for someone to ask how it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def below(pid: int) -> list[Life]:
    """Its descendants, nearest first."""
    found, pending = [], [pid]
    while pending:
        one = pending.pop(0)
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                children = [int(word) for word in path.read_text().split()]
            except OSError:
                continue
            pending += children
            found += [Life((child, started(child))) for child in children]
    return found


@pytest.fixture
def process(sandbox: Sandbox) -> Process:
    """A run with processes that are hard to end."""
    said: list[bytes] = []
    process = sandbox.start(["sh", "-c", SCRIPT], on_stdout=said.append)
    assert eventually(lambda: bool(said), LONGEST_S)
    time.sleep(0.3)  # until all of them are there
    return process


def all_gone(lives: list[Life]) -> bool:
    return eventually(lambda: not any(life.lasts for life in lives))


def test_a_supervisor_that_is_killed_takes_all_of_it_along(process: Process) -> None:
    lives = below(process.pid)
    assert len(lives) >= 2
    os.kill(process.pid, signal.SIGKILL)
    assert all_gone(lives), lives
    with pytest.raises(WardianError, match="supervisor"):
        process.wait(LONGEST_S)


def test_a_reaper_that_is_killed_takes_all_of_it_along(process: Process) -> None:
    lives = below(process.pid)
    os.kill(lives[0][0], signal.SIGKILL)
    assert all_gone(lives), lives
    assert process.wait(LONGEST_S).reason == "killed"


def test_a_stopped_reaper_does_not_keep_it_alive(process: Process) -> None:
    lives = below(process.pid)
    os.kill(lives[0][0], signal.SIGSTOP)
    os.kill(process.pid, signal.SIGKILL)
    assert all_gone(lives), lives


def test_what_forks_in_a_chain_is_caught(box: Box, sandbox: Sandbox) -> None:
    """Each process forks one that does the same in a session of its own, and ends."""
    if box.name == "gvisor":
        pytest.skip("gVisor's processes are none of the host's")
    mark = f"chain-{os.getpid()}-{time.monotonic_ns()}"
    program = (
        f"# {mark}\nimport os, sys\nprint('up', flush=True)\n"
        "if os.fork() == 0:\n"
        "    for fd in range(3): os.close(fd)\n"
        "    while True:\n"
        "        if os.fork(): os._exit(0)\n"
        "        os.setsid()\n"
        "import time; time.sleep(300)"
    )
    before = set(below(os.getpid()))
    said: list[bytes] = []
    process = sandbox.start([PYTHON, "-c", program], on_stdout=said.append)
    assert eventually(lambda: bool(said), LONGEST_S)
    time.sleep(0.2)
    process.kill()
    assert process.wait(LONGEST_S).reason == "killed"
    assert eventually(lambda: set(below(os.getpid())) <= before)
    assert eventually(lambda: not _marked(mark)), _marked(mark)


def _marked(mark: str) -> list[str]:
    """Processes whose command line has this, wherever they are."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(path.parent.name)
    return found
