"""The backend ``landlock``: nothing outlives a run, nothing is left, and processes are counted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack import py
from tests.attacks.callers import NAMES, Caller
from wardian import Sandbox
from wardian.errors import BackendError


def gone(pids: list[int], within_s: float = 5.0) -> bool:
    """None of them is there, or only as a zombie."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


DAEMON = (
    "import os, sys, time\n"
    "for how in range(3):\n"
    "    if os.fork() == 0:\n"
    "        if how: os.setsid()\n"
    "        if how == 2 and os.fork(): os._exit(0)\n"
    "        print(os.getpid(), flush=True)\n"
    "        time.sleep(300)\n"
    "time.sleep(float(sys.argv[1]))"
)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_daemons_and_sessions_of_their_own_end_with_the_run(caller: Caller) -> None:
    outcome = caller.run([*py(DAEMON), "1"], backend="landlock")
    pids = [int(word) for word in outcome.stdout.split()]
    assert len(pids) == 3, outcome
    assert gone(pids)


@pytest.fixture
def running() -> Any:
    """A sandbox of this process's, with a run in it."""
    with Sandbox(backend_name="landlock") as sandbox:
        yield sandbox


def _started(sandbox: Any) -> tuple[Any, list[int]]:
    said: list[bytes] = []
    process = sandbox.start(["/usr/bin/python3", "-c", DAEMON, "60"], on_stdout=said.append)
    deadline = time.monotonic() + 20
    while b"".join(said).count(b"\n") < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    return process, [int(word) for word in b"".join(said).split()]


def _supervisor(process: Any) -> int:
    return int(process.pid)


def _reaper(process: Any) -> int:
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return int(text.split()[0])


@pytest.mark.parametrize("whom", [_supervisor, _reaper], ids=["supervisor", "reaper"])
def test_nothing_outlives_one_of_ours_that_was_killed(
    running: Any, whom: Callable[[Any], int]
) -> None:
    process, pids = _started(running)
    assert len(pids) == 3
    os.kill(whom(process), signal.SIGKILL)
    assert gone(pids)
    if whom is _supervisor:
        with pytest.raises(BackendError, match="the supervisor was killed"):
            process.wait(20)
    else:
        assert process.wait(20).signal == signal.SIGKILL


def test_links_that_a_guest_leaves_are_not_followed_when_its_files_go(
    running: Any, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("here")
    script = (
        f"ln -s {kept} $TMPDIR/l; ln -s {kept}/file $HOME/f; "
        "mkdir -p $TMPDIR/a/b; chmod 0 $TMPDIR/a"
        "; echo $TMPDIR"
    )
    result = running.run(["sh", "-c", script])
    place = Path(result.text.strip())
    assert place.name == "tmp"
    assert not place.parent.exists()
    assert (kept / "file").read_text() == "here"


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_processes_are_counted_for_each_caller(caller: Caller) -> None:
    code = (
        "import os, time\nn = 0\n"
        "try:\n"
        "    while n < 200:\n"
        "        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
        "        n += 1\n"
        "except OSError as e: print('refused', e.errno, flush=True)\n"
        "print('made', n, flush=True)\nos._exit(0)"
    )
    outcome = caller.run(py(code), backend="landlock", limits={"processes": 20})
    assert "refused 11" in outcome.stdout, outcome
    assert int(outcome.stdout.split("made")[1]) <= 24
    bare = caller.run(py(code), backend="landlock", limits={"processes": None})
    assert "made 200" in bare.stdout, bare
