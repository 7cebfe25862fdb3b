"""Limits of one command, and of the place as a whole."""

from __future__ import annotations

import threading
import time

import pytest

from wardian import Policy, Sandbox
from wardian.errors import SandboxError

from .conftest import python

# Its first thread ends, another goes on: the process looks like a zombie, and is none.
WITHOUT_FIRST_THREAD = (
    "import ctypes, threading, time\n"
    "def go():\n    while True: time.sleep(0.05)\n"
    "threading.Thread(target=go).start()\n"
    "print('up', flush=True)\n"
    "ctypes.CDLL(None).syscall({exit}, 0)\n"
)


def exit_call() -> int:
    """exit(2) of one thread, on this machine."""
    import platform

    return 60 if platform.machine() == "x86_64" else 93


def test_time_is_each_command_s_own(place: Sandbox) -> None:
    longer = place.start(["sleep", "2"], timeout_s=30)
    result = place.run(["sleep", "60"], timeout_s=0.3)
    assert (result.reason, result.exit_code) == ("time limit", 124)
    assert 0.3 <= result.usage.wall_s < 10
    assert longer.wait(30).ok


def test_time_ends_all_that_a_command_started(place: Sandbox) -> None:
    hidden = (
        "import os, time\nfor n in range(2):\n"
        "    if os.fork(): os._exit(0) if n else time.sleep(60)\n    os.setsid()\n"
        "time.sleep(60)"
    )
    assert place.run(python(hidden), timeout_s=0.5).reason == "time limit"
    assert place.run(["sh", "-c", "ls /proc | grep -c '^[0-9]'"]).text == "4\n"


def test_a_process_whose_first_thread_has_ended_is_ended(place: Sandbox) -> None:
    code = WITHOUT_FIRST_THREAD.format(exit=exit_call())
    assert place.start(python(code), timeout_s=1).wait(20).reason == "time limit"
    hidden = place.start(python(f"import os\nif os.fork(): os._exit(0)\nos.setsid()\n{code}"))
    result = hidden.wait(20)
    assert len(result.left_running) == 1
    process = place.start(python(code))
    assert next(iter(process.stdout)) == b"up\n"
    process.kill()
    assert process.wait(20).reason == "killed"


def test_output_is_limited_for_each_command() -> None:
    with Sandbox.create(Policy.default().with_limits(output_bytes=100_000)) as sandbox:
        for _ in range(2):
            result = sandbox.run(["yes"], timeout_s=30)
            assert (result.reason, result.truncated) == ("output limit", True)
            assert len(result.stdout) == 100_000
        assert sandbox.run(["sh", "-c", "yes | head -c 90000 | wc -c"]).text == "90000\n"


def test_memory_ends_the_largest_command_and_the_place_goes_on() -> None:
    with Sandbox.create(Policy.default().with_limits(memory_bytes=300 << 20)) as sandbox:
        small = sandbox.start(
            python("import time; a = bytearray(20 << 20); time.sleep(3); print(len(a))")
        )
        large = sandbox.start(
            python(
                "import time\na = []\nwhile True: a.append(bytearray(8 << 20)); time.sleep(0.02)"
            )
        )
        result = large.wait(30)
        assert result.reason in ("memory limit", "exited"), result
        if result.reason == "exited":
            assert b"MemoryError" in result.stderr
        assert small.wait(30).text == f"{20 << 20}\n"
        assert sandbox.run(["true"]).ok


def test_cpu_time_is_the_place_s() -> None:
    with Sandbox.create(Policy.default().with_limits(cpu_s=1)) as sandbox:
        result = sandbox.run(python("while True: pass"), timeout_s=30)
        assert result.reason == "cpu limit"


def test_a_full_disk_is_every_command_s_and_names_the_limit() -> None:
    with Sandbox.create(Policy.default().with_limits(disk_bytes=8 << 20)) as sandbox:
        fill = sandbox.run(["sh", "-c", "head -c 64M /dev/zero > /tmp/big"])
        assert not fill.ok
        again = sandbox.run(["sh", "-c", "head -c 64M /dev/zero > /tmp/more"])
        assert not again.ok
        assert (
            sandbox.run(["sh", "-c", "rm /tmp/*; echo x > /tmp/small; cat /tmp/small"]).text
            == "x\n"
        )


def test_processes_are_counted_for_the_place_and_a_command_still_starts() -> None:
    with Sandbox.create(Policy.default().with_limits(processes=40)) as sandbox:
        bomb = sandbox.start(
            python(
                "import os, time\nwhile True:\n"
                "    try:\n        if os.fork() == 0: time.sleep(99)\n"
                "    except OSError: time.sleep(0.1)"
            )
        )
        time.sleep(1)
        assert sandbox.run(["true"], timeout_s=20).ok
        bomb.kill()
        assert bomb.wait(30).reason == "killed"
        assert sandbox.run(["sh", "-c", "true | true; ls /proc | grep -c '^[0-9]'"]).text == "4\n"


def test_more_commands_at_once_than_a_place_takes_are_refused_by_name(place: Sandbox) -> None:
    started = [place.start(["sleep", "60"]) for _ in range(258)]
    refused = 0
    for process in started[256:]:
        with pytest.raises(SandboxError, match="as many commands as it can"):
            process.wait(30)
        refused += 1
    assert refused == 2
    for process in started[:256]:
        process.kill()
    assert {process.wait(60).reason for process in started[:256]} == {"killed"}
    assert place.run(["true"]).ok


def test_a_caller_that_does_not_read_holds_no_other_command_up(place: Sandbox) -> None:
    """Its status pipe is full of refusals, and nobody reads it."""
    hold = threading.Event()
    many = (
        "import os\nprint('x', flush=True)\n"
        "for n in range(900):\n"
        "    try: open('/etc/' + 'n' * 150 + str(n))\n    except OSError: pass\n"
    )
    slow = place.start(python(many), on_stdout=lambda data: (hold.wait(60), None)[1])
    began = time.monotonic()
    try:
        for _ in range(20):
            assert place.run(["sleep", "60"], timeout_s=0.1).reason == "time limit"
        assert time.monotonic() - began < 30
    finally:
        hold.set()
    assert slow.wait(30).ok
