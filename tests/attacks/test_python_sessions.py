"""A guest that turns against its interpreter's channel, streams and process: the caller gets a
clear outcome, bounded in size and time, and a new interpreter for the next cell."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import pytest

from wardian import Sandbox
from wardian.sandbox.python import channel, session
from wardian.sandbox.python.outcome import Malformed, read
from wardian.sandbox.python.session import PythonSession

PYTHON = "/usr/bin/python3"
# The channel is the one socket that the interpreter has.
FIND = (
    "import os, stat\n"
    "c = next(n for n in range(3, 64) if os.path.exists(f'/proc/self/fd/{n}')\n"
    "         and stat.S_ISSOCK(os.stat(f'/proc/self/fd/{n}').st_mode))\n"
)
REPLY = "def frame(text): return len(text).to_bytes(4, 'little') + text\n"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.create() as made:
        yield made


@pytest.fixture
def python(sandbox: Sandbox) -> Iterator[PythonSession]:
    with sandbox.python(PYTHON) as made:
        yield made


BROKEN = {
    "garbage": "os.write(c, os.urandom(4096))",
    "text": "os.write(c, b'hello, this is no message at all')",
    "a length that is too large": "os.write(c, b'\\xff' * 4)",
    "a length of nothing": "os.write(c, bytes(4))",
    "no JSON": "os.write(c, frame(b'{'))",
    "another type": "os.write(c, frame(b'[1]'))",
    "another cell's reply": "os.write(c, frame(b'{\"id\": 999}'))",
    "two replies": "os.write(c, frame(b'{\"id\": 1}') * 2)",
    "nesting": "os.write(c, frame(b'[' * 100000 + b']' * 100000))",
    "a wrong display": 'os.write(c, frame(b\'{"id": 1, "display": [{"text": "", "png": "AAAA"}]}\'))',
    "a wrong error": 'os.write(c, frame(b\'{"id": 1, "error": [1, 2, 3]}\'))',
    "a child that writes": "if os.fork() == 0: os.write(c, os.urandom(99)); os._exit(0)\nos.wait()",
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_no_message_ends_the_interpreter(python: PythonSession, what: str) -> None:
    outcome = python.run(f"{FIND}{REPLY}{BROKEN[what]}\nimport time; time.sleep(60)", timeout_s=30)
    assert outcome.restarted
    assert "no message of its own" in outcome.why
    assert python.run("6 * 7").value == 42


ENDS = {
    "exit": ("import os; os._exit(3)", "ended with 3"),
    "SystemExit": ("raise SystemExit(4)", "ended with 4"),
    "abort": ("import os; os.abort()", "ended with 134"),
    "a fault": ("import ctypes; ctypes.string_at(0)", "ended with 139"),
    "kill": ("import os; os.kill(os.getpid(), 9)", "ended with 137"),
    "a child that holds everything": (
        "import os, time\nif os.fork() == 0:\n    time.sleep(60)\nos._exit(5)",
        "ended with 5",
    ),
    "exec": ("import os; os.execv('/bin/sleep', ['sleep', '0.1'])", "ended with 0"),
}


@pytest.mark.parametrize("what", ENDS)
def test_an_interpreter_that_ends_is_reported_and_replaced(
    python: PythonSession, what: str
) -> None:
    code, said = ENDS[what]
    began = time.monotonic()
    outcome = python.run(code, timeout_s=50)
    assert time.monotonic() - began < 30
    assert outcome.restarted
    assert said in outcome.why
    assert python.run("6 * 7").value == 42


def test_a_restart_ends_what_cells_started(sandbox: Sandbox, python: PythonSession) -> None:
    def running() -> int:
        """Processes that run: what was killed stays listed as a zombie until pid 1 has seen it."""
        states = sandbox.run(["sh", "-c", "exec grep -h ^State: /proc/[0-9]*/status"]).stdout
        return sum(b"zombie" not in line for line in states.splitlines())

    assert python.run("1").ok
    python.restart()
    before = running()
    assert before == 2  # pid 1 and grep itself
    fork = (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0: os.setsid(); time.sleep(60)\n"
    )
    assert python.run(fork + "x = 1").ok
    assert running() == before + 6
    python.restart()
    assert running() == before


def test_closed_descriptors_are_the_cells_own_loss(python: PythonSession) -> None:
    outcome = python.run("import os; os.close(1); os.close(2); 5")
    assert (outcome.value, outcome.stdout, outcome.restarted) == (5, "", False)
    assert python.run("6").value == 6
    outcome = python.run(f"{FIND}os.close(c)", timeout_s=30)
    assert outcome.restarted
    assert python.run("7").value == 7


def test_output_is_bounded(python: PythonSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OUTPUT_BYTES", 1 << 20)
    outcome = python.run("import sys; print('x' * (5 << 20)); sys.stderr.write('y' * (5 << 20)); 1")
    assert (len(outcome.stdout), len(outcome.stderr)) == (1 << 20, 1 << 20)
    assert outcome.truncated
    assert outcome.value == 1
    outcome = python.run("'z' * (3 << 20)")
    assert outcome.truncated
    assert not outcome.has_value
    assert outcome.text is not None
    assert len(outcome.text) == 64 << 10
    many = python.run("for n in range(10000): display(n)")
    assert len(many.display) == 200
    assert many.truncated


def test_a_child_that_prints_for_ever_holds_nothing_up(python: PythonSession) -> None:
    code = "import os\nif os.fork() == 0:\n    while True: os.write(1, b'x' * 65536)\n"
    began = time.monotonic()
    assert python.run(code + "8").value == 8
    assert time.monotonic() - began < 20
    assert python.run("9").value == 9


def test_a_cell_that_takes_its_input_away_is_no_harm(python: PythonSession) -> None:
    steal = f"{FIND}import threading\nthreading.Thread(target=os.read, args=(c, 9999), daemon=True).start()\n1"
    python.run(steal, timeout_s=5)
    for _ in range(6):
        outcome = python.run("2", timeout_s=2)
        if outcome.restarted:  # the thread was quicker, and the cell never came
            assert outcome.timed_out
            break
        assert outcome.value == 2
    assert python.run("3", timeout_s=30).value == 3 or not outcome.restarted


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"text": 3},
        {"error": "x"},
        {"error": ["a", "b"]},
        {"display": {}},
        {"display": [3]},
        {"display": [{"text": 3}]},
        {"display": [{"png": 3}]},
        {"display": [{"png": "%%%"}]},
        {"display": [{"html": 3}]},
        {"display": [{}] * 1001},
    ],
)
def test_a_reply_is_checked(said: object) -> None:
    with pytest.raises(Malformed):
        read(said)


def test_values_come_as_plain_data_only() -> None:
    """JSON alone is read: nothing in a reply can name a class, a function or a file."""
    for name in ("channel", "outcome", "session"):
        module = __import__(f"wardian.sandbox.python.{name}", fromlist=[name])
        with open(module.__file__, encoding="utf-8") as file:
            text = file.read()
        for reader in ("import pickle", "import marshal", "import shelve", "import yaml", " eval("):
            assert reader not in text


def test_a_message_is_taken_in_pieces() -> None:
    reader, writer = os.pipe()
    try:
        os.set_blocking(reader, False)
        incoming = channel.Incoming()
        message = channel.framed({"a": "]" * 3, "b": [1]})
        for byte in message[:-1]:
            os.write(writer, bytes([byte]))
            assert incoming.take(reader) is None
        os.write(writer, message[-1:])
        assert incoming.take(reader) == {"a": "]]]", "b": [1]}
        deep = json.dumps("[" * 1000).encode()
        assert channel.parsed(deep) == "[" * 1000
        with pytest.raises(Malformed):
            channel.parsed(b"[" * 500 + b"]" * 500)
    finally:
        os.close(reader)
        os.close(writer)
