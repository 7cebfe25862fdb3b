"""Talking to a command while it runs: input, output, terminals, signals, ends."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import threading
import time

import pytest

from wardian import Sandbox
from wardian.errors import SandboxError, UsageError

from .conftest import children, descriptors, launcher_of, python

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"


def test_input_is_written_and_output_read_in_turns(place: Sandbox) -> None:
    process = place.start(python(ECHO))
    pieces = iter(process.stdout)
    for word in ("abc", "xyz"):
        process.stdin.write(f"{word}\n")
        assert next(pieces) == f"{word[::-1]}\n".encode()
    process.stdin.close()
    assert list(pieces) == []
    result = process.wait(30)
    assert (result.text, result.usage.stdout_bytes) == ("cba\nzyx\n", 8)
    with pytest.raises((BrokenPipeError, UsageError)):
        process.stdin.write("more")


def test_output_is_iterated_in_several_threads_from_its_beginning(place: Sandbox) -> None:
    process = place.start(["sh", "-c", "for i in 1 2 3 4 5; do echo $i; sleep 0.05; done"])
    seen: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: seen.append(b"".join(process.stdout))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert seen == [b"1\n2\n3\n4\n5\n"] * 4
    assert b"".join(process.stdout) == process.wait(30).stdout


def test_a_write_that_nobody_reads_ends_with_the_command(place: Sandbox) -> None:
    process = place.start(["sleep", "60"])
    failed: list[BaseException] = []

    def write() -> None:
        try:
            process.stdin.write(b"x" * (4 << 20))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    time.sleep(0.2)
    process.kill()
    thread.join(10)
    assert [type(error) for error in failed] == [BrokenPipeError]


def test_kill_ends_the_command_and_what_it_started_and_no_other(place: Sandbox) -> None:
    deep = (
        "import os, time\n"
        "for _ in range(3):\n    if os.fork(): time.sleep(60)\n    os.setsid()\n"
        "print('up', flush=True); time.sleep(60)"
    )
    one, two = place.start(python(deep)), place.start(python(deep))
    for process in (one, two):
        assert next(iter(process.stdout)) == b"up\n"
    count = python(
        "import glob\nfor path in glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    with open(path) as file: print('x' * file.read().count('os.' 'setsid'), end='')"
    )
    assert place.run(count).text == "x" * 8
    one.kill()
    assert one.wait(30).reason == "killed"
    assert place.run(count).text == "x" * 4
    assert not two.ended
    two.kill()
    two.wait(30)


def test_signals_reach_the_command(place: Sandbox) -> None:
    trap = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'heard\\n'))\n"
        "print('up', flush=True)\nwhile True: time.sleep(1)"
    )
    process = place.start(python(trap))
    pieces = iter(process.stdout)
    assert next(pieces) == b"up\n"
    process.send_signal(signal.SIGUSR1)
    assert next(pieces) == b"heard\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30).exit_code == 128 + signal.SIGTERM


def test_a_terminal_has_a_size_that_can_be_changed(place: Sandbox) -> None:
    process = place.start(["sh"], pty=(30, 100))
    process.stdin.write("stty size; tty; echo ready\n")
    seen = b""
    for piece in process.stdout:
        seen += piece
        if b"\nready" in seen.replace(b"\r", b""):
            break
    assert b"30 100" in seen
    assert b"/dev/pts/" in seen
    process.resize(40, 120)
    process.stdin.write("stty size; exit 3\n")
    result = process.wait(30)
    assert b"40 120" in result.stdout
    assert result.exit_code == 3
    for size in ((0, 80), (24, 1 << 16)):
        with pytest.raises(UsageError):
            process.resize(*size)


def test_ctrl_c_at_a_terminal_interrupts_and_ctrl_d_ends(place: Sandbox) -> None:
    process = place.start(["sh", "-c", "trap 'echo caught' INT; echo up; sleep 60; cat"], pty=True)
    assert b"up" in next(iter(process.stdout))
    time.sleep(0.2)
    process.stdin.write(b"\x03")
    time.sleep(0.2)
    process.stdin.close()
    result = process.wait(30)
    assert b"caught" in result.stdout


def test_without_a_terminal_there_is_none_to_resize(place: Sandbox) -> None:
    process = place.start(["sleep", "9"])
    with pytest.raises(UsageError, match="terminal"):
        process.resize(1, 1)


def test_all_terminals_taken_is_an_error_of_that_command_only(place: Sandbox) -> None:
    take = place.start(
        python(
            "import os, time\nheld = []\n"
            "try:\n    while True: held.append(os.open('/dev/ptmx', os.O_RDWR))\n"
            "except OSError: print('full', flush=True); time.sleep(60)"
        )
    )
    assert next(iter(take.stdout)) == b"full\n"
    if len(place.run(["ls", "/dev/pts"]).text.split()) > 400:
        pytest.skip("the files limit strikes before the terminals are used up")
    with pytest.raises(SandboxError, match="terminal"):
        place.start(["true"], pty=True).wait(30)
    assert place.run(["true"]).ok


def test_a_background_command_lives_on_and_keeps_the_last_of_its_output(place: Sandbox) -> None:
    process = place.start(
        ["sh", "-c", "yes | head -c 3000000; echo end; sleep 60"], background=True
    )
    deadline = time.monotonic() + 30
    while not process.stdout.read().endswith(b"end\n") and time.monotonic() < deadline:
        time.sleep(0.05)
    kept = process.stdout.read()
    assert kept.endswith(b"y\nend\n")
    assert 1 << 20 <= len(kept) < 1 << 21
    place.close()
    result = process.wait(30)
    assert (result.reason, result.detail) == ("killed", "the sandbox was closed")
    assert result.truncated


def test_a_handle_that_is_dropped_ends_its_command(place: Sandbox) -> None:
    process = place.start_unattended(["sleep", "61"])
    del process
    gc.collect()
    assert "sleep" not in place.run(["sh", "-c", "cat /proc/[0-9]*/comm"]).text


def test_a_callback_that_fails_ends_its_command_and_no_other(place: Sandbox) -> None:
    other = place.start(["sleep", "60"])

    def fail(data: bytes) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        place.run(["sh", "-c", "echo x; sleep 60"], on_stdout=fail)
    assert not other.ended
    assert place.run(["sh", "-c", "cat /proc/[0-9]*/comm | grep -c sleep"]).text == "1\n"
    other.kill()


def test_an_interrupt_ends_the_command_that_is_waited_for(place: Sandbox) -> None:
    place.run(["true"])
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        place.run(["sleep", "60"])
    timer.join()
    assert place.run(["sh", "-c", "cat /proc/[0-9]*/comm | grep -c sleep"]).text == "0\n"


def test_an_interrupt_at_any_moment_leaves_nothing(place: Sandbox) -> None:
    """One for each command, while it starts or runs."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    place.run(["true"])
    before, chance = descriptors(), random.Random(1)
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(60):
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the clock is part of it
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.02))
                place.run(["sleep", "100"])
    finally:
        signal.signal(signal.SIGALRM, old)
    gc.collect()
    assert descriptors() <= before
    assert place.run(["sh", "-c", "cat /proc/[0-9]*/comm | grep -c sleep"]).text == "0\n"


def test_hundreds_of_commands_leave_no_descriptor_anywhere(place: Sandbox) -> None:
    place.run(["sleep", "0.3"])  # until its limits were looked at
    supervisor = launcher_of(place)
    all_of_them = ["self", supervisor, *children(supervisor)]
    before = [descriptors(pid) for pid in all_of_them]
    for number in range(120):
        if number % 3:
            place.run(["true"])
        else:
            process = place.start(["sh"], pty=number % 2 == 0)
            process.kill()
            process.wait(30)
    gc.collect()
    assert [descriptors(pid) for pid in all_of_them] == before


def test_the_same_words_on_an_event_loop() -> None:
    async def talk() -> None:
        async with Sandbox.create() as sandbox:
            result = await sandbox.run(["echo", "one"])
            assert result.text == "one\n"
            process = await sandbox.start(python(ECHO))
            await process.stdin.write("abc\n")
            async for piece in process.stdout:
                assert piece == b"cba\n"
                break
            await process.stdin.close()
            assert (await process.wait(30)).ok
            several = await asyncio.gather(*(sandbox.run(["echo", str(n)]) for n in range(20)))
            assert [one.text for one in several] == [f"{n}\n" for n in range(20)]
            sleeper = await sandbox.start(["sleep", "60"])
            with pytest.raises(TimeoutError):
                await sleeper.wait(0.1)
            await sleeper.kill()
            assert (await sleeper.wait(30)).reason == "killed"
            cancelled = asyncio.ensure_future(sandbox.run(["sleep", "60"]))
            await asyncio.sleep(0.2)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            left = await sandbox.run(["sh", "-c", "cat /proc/[0-9]*/comm | grep -c sleep"])
            assert left.text == "0\n"
            running = [await sandbox.start(["sleep", "60"]) for _ in range(3)]
        ends = [await one.wait(30) for one in running]
        assert {one.detail for one in ends} == {"the sandbox was closed"}

    asyncio.run(talk())


def test_a_loop_that_is_gone_ends_no_command(place: Sandbox) -> None:
    process = place.start(["sh", "-c", "while :; do echo x; sleep 0.02; done"])

    async def glance() -> None:
        pieces = process.stdout.__aiter__()
        await pieces.__anext__()
        glance.kept = pieces  # type: ignore[attr-defined]

    loop = asyncio.new_event_loop()
    loop.run_until_complete(glance())
    loop.close()
    time.sleep(0.3)
    assert not process.ended
    process.kill()
    assert process.wait(30).reason == "killed"
