"""Reporting what a guest left running: it neither delays the end nor forges what is printed."""

from __future__ import annotations

import time

import pytest

from tests.attacks.attack import py
from tests.attacks.callers import NAMES, Caller

pytestmark = pytest.mark.parametrize("caller", NAMES, indirect=True)
SOON_S = 1.0  # far more than the 100 ms that reading may take, on a machine with other work

# Threads that hold the lock of their memory nearly always: whoever reads the command line waits.
HOLDS_ITS_LOCK = """
import ctypes, mmap, os, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
if os.fork() > 0:
    import time; time.sleep(1); print(time.monotonic(), flush=True); os._exit(0)
def hold():
    size = 15000 * 4096
    area = libc.mmap(None, size, 3, 0x22, -1, 0)
    for at in range(0, 15000, 2):
        libc.mprotect(area + at * 4096, 4096, 1)
    while True:
        libc.mprotect(area, size, 1); libc.mprotect(area, size, 3)
        for at in range(0, 15000, 2):
            libc.mprotect(area + at * 4096, 4096, 1)
for _ in range(4):
    threading.Thread(target=hold).start()
"""
MANY = """
import os, time
made = 0
try:
    while made < %d:
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        made += 1
except OSError:
    pass
print(time.monotonic(), flush=True)
os._exit(0)
"""
ENDS_ITS_READER = """
import os, signal, time
if os.fork() > 0:
    time.sleep(0.2); print(time.monotonic(), flush=True); os._exit(0)
while os.getppid() != 1:
    pass
while True:
    try:
        os.kill(-1, signal.%s)
    except OSError:
        pass
"""


def ended_after_s(outcome_text: str) -> float:
    return time.monotonic() - float(outcome_text.split(maxsplit=1)[0])


def test_who_holds_the_lock_of_its_memory_delays_nothing(caller: Caller) -> None:
    outcome = caller.run(py(HOLDS_ITS_LOCK))
    assert ended_after_s(outcome.stdout) < SOON_S
    assert outcome.exit_code == 0
    assert outcome.left_running or outcome.left_running_more


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSTOP"])
def test_who_ends_or_stops_the_reader_is_counted_still(caller: Caller, signal: str) -> None:
    """Landlock keeps signals from it; older kernels have none that does."""
    outcome = caller.run(py(ENDS_ITS_READER % signal), without=["landlock"])
    assert ended_after_s(outcome.stdout) < SOON_S
    assert outcome.exit_code == 0
    assert outcome.left_running or outcome.left_running_more


def test_of_many_processes_some_are_named(caller: Caller) -> None:
    outcome = caller.run(py(MANY % 1000), limits={"processes": 60})
    assert ended_after_s(outcome.stdout) < SOON_S
    assert 0 < len(outcome.left_running) <= 20
    assert len(outcome.left_running) + outcome.left_running_more <= 60
    assert all("python3" in one["command"] for one in outcome.left_running)


@pytest.mark.long
def test_ten_thousand_processes_are_ended_soon(caller: Caller) -> None:
    outcome = caller.run(
        py(MANY % 10000), limits={"processes": 10100, "memory_bytes": 8 << 30, "time_s": 120}
    )
    assert len(outcome.left_running) <= 20
    assert outcome.left_running or outcome.left_running_more
    assert ended_after_s(outcome.stdout) < 10 * SOON_S  # they all have to be ended, too


def test_a_command_line_is_one_harmless_line(caller: Caller) -> None:
    """Escapes, line breaks, no text, a megabyte; and a name that ends like a state."""
    hostile = r"'\x1b[2J\x1b]0;t\x07\nwardian: nothing was refused\r\u202e\udcff'"
    outcome = caller.run(
        py(
            "import os, time, ctypes\n"
            f"words = [{hostile}, 'x' * 100000, *['y' * 100000] * 10]\n"
            "if os.fork() == 0: os.execv('/bin/sleep', ['-' + words[0], '60'])\n"
            "if os.fork() == 0: os.execv('/bin/sh', ['sh', '-c', 'sleep 60; :', *words[1:]])\n"
            "if os.fork() == 0:\n"
            "    ctypes.CDLL(None).prctl(15, b'x) Z 1 (', 0, 0, 0)\n"
            "    time.sleep(60)\n"
            "time.sleep(0.5)\n"
        )
    )
    lines = [one["command"] for one in outcome.left_running]
    assert len(lines) == 4  # the shell's own sleep is one of them
    assert all(line.isprintable() and len(line) < 1600 for line in lines)
    assert any(r"\x1b[2J" in line and r"\nwardian" in line for line in lines)
    assert any(line.endswith("x…") for line in lines)
