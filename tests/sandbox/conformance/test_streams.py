"""Words in, bytes in, bytes out."""

from __future__ import annotations

import os
import time

import pytest

from tests.sandbox.conformance.conftest import LONGEST_S, PYTHON, Box
from wardian import Sandbox
from wardian.errors import UsageError


def test_a_list_never_passes_through_a_shell(sandbox: Sandbox) -> None:
    words = ["$HOME", "`id`", "a b", "", "*", "-n", "--", "\n", "ü", "'\"\\"]
    assert sandbox.run(["printf", r"<%s>\n", *words]).text == "".join(f"<{w}>\n" for w in words)


def test_words_of_any_bytes_arrive_or_are_refused(box: Box, sandbox: Sandbox) -> None:
    odd = os.fsdecode(bytes(range(1, 256)))
    if box.name == "gvisor":  # never something else in their place
        with pytest.raises(UsageError, match="UTF-8"):
            sandbox.run(["printf", "%s", odd])
    else:
        assert sandbox.run(["printf", "%s", odd]).stdout == os.fsencode(odd)


def test_long_words_arrive(sandbox: Sandbox) -> None:
    assert len(sandbox.run(["printf", "%s", "x" * 100_000]).stdout) == 100_000


def test_input_of_a_megabyte_goes_through_as_it_is(sandbox: Sandbox) -> None:
    data = os.urandom(1 << 20)
    assert sandbox.run(["cat"], input=data).stdout == data


def test_without_input_there_is_an_end_at_once(sandbox: Sandbox) -> None:
    assert sandbox.run(["cat"], timeout_s=LONGEST_S).exit_code == 0
    assert sandbox.run(["cat"], input=b"", timeout_s=LONGEST_S).exit_code == 0


def test_input_that_nobody_reads_harms_nobody(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"], input=b"x" * (2 << 20)).exit_code == 0
    assert sandbox.run(["head", "-c", "3"], input=b"abcdef" * 300_000).stdout == b"abc"


def test_output_is_bytes_and_its_streams_are_apart(sandbox: Sandbox) -> None:
    program = "import os; os.write(1, bytes(range(256))); os.write(2, b'\\xff\\0err')"
    result = sandbox.run([PYTHON, "-c", program])
    assert result.stdout == bytes(range(256))
    assert result.stderr == b"\xff\0err"
    assert (result.usage.stdout_bytes, result.usage.stderr_bytes) == (256, 5)


def test_much_output_on_both_streams_does_not_lock_up(sandbox: Sandbox) -> None:
    program = (
        "import os, threading\n"
        "def w(fd):\n"
        "    left = memoryview(b'x' * (40 << 16))\n"
        "    while left: left = left[os.write(fd, left[:65536]):]\n"
        "t = [threading.Thread(target=w, args=(fd,)) for fd in (1, 2)]\n"
        "[x.start() for x in t]; [x.join() for x in t]"
    )
    result = sandbox.run([PYTHON, "-c", program], timeout_s=LONGEST_S)
    assert (len(result.stdout), len(result.stderr)) == (40 << 16, 40 << 16)


def test_output_is_bounded_and_told(box: Box) -> None:
    result = box.limited(output_bytes=100_000).run(["yes"], timeout_s=LONGEST_S)
    assert (result.exit_code, result.reason, result.truncated) == (137, "output limit", True)
    assert len(result.stdout) == 100_000
    assert [limit.name for limit in result.limits if limit.struck] == ["output"]


def test_output_of_exactly_the_limit_is_whole(box: Box) -> None:
    sandbox = box.limited(output_bytes=1000)
    result = sandbox.run(["head", "-c", "1000", "/dev/zero"])
    assert (len(result.stdout), result.truncated, result.exit_code) == (1000, False, 0)
    both = sandbox.run(["sh", "-c", "head -c 600 /dev/zero; head -c 600 /dev/zero >&2; sleep 9"])
    assert both.truncated
    assert len(both.stdout) + len(both.stderr) == 1000


def test_a_grandchild_that_keeps_the_pipe_does_not_hold_the_run(sandbox: Sandbox) -> None:
    began = time.monotonic()
    result = sandbox.run(["sh", "-c", "setsid sleep 50 & echo early"])
    assert (result.text, result.exit_code) == ("early\n", 0)
    assert time.monotonic() - began < 40


def test_the_last_bytes_of_a_dying_guest_arrive(sandbox: Sandbox) -> None:
    for _ in range(3):
        result = sandbox.run(["sh", "-c", "head -c 200000 /dev/zero; kill -9 $$"])
        assert len(result.stdout) == 200_000


def test_what_begins_like_the_sandbox_s_own_words_arrives_too(sandbox: Sandbox) -> None:
    for words in ("bwrap: execvp x: No such file or directory", "running container: x", "bwr", "r"):
        result = sandbox.run(["sh", "-c", 'printf "%s" "$1" >&2; exit 1', "sh", words])
        assert (result.exit_code, result.stderr.decode()) == (1, words)


def test_callbacks_see_the_pieces_as_they_come(sandbox: Sandbox) -> None:
    seen: list[tuple[float, bytes]] = []
    result = sandbox.run(
        ["sh", "-c", "echo one; sleep 1; echo two"],
        on_stdout=lambda data: seen.append((time.monotonic(), data)),
        keep=True,
    )
    assert b"".join(data for _, data in seen) == result.stdout == b"one\ntwo\n"
    assert seen[-1][0] - seen[0][0] > 0.5


def test_a_callback_that_raises_ends_the_run(sandbox: Sandbox) -> None:
    def fail(_: bytes) -> None:
        raise RuntimeError("enough")

    began = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        sandbox.run(["sh", "-c", "echo x; sleep 100"], on_stdout=fail)
    assert time.monotonic() - began < 60
