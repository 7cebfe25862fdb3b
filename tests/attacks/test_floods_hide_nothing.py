"""However much else is refused, a refused file that the host has is in the report."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wardian import Policy, Result, Sandbox
from wardian.sandbox.host import this_host
from wardian.sandbox.run import plan

PYTHON = os.path.realpath(sys.executable)
# Look-ups are seen by /dev/fuse, or where they are asked for.
POLICY = Policy.default().but(explain=not this_host().fuse)
MANY = 3000
FLOODS = {
    "names in the root": "os.access(f'/nope/{n}', 0)",
    "names beside it": "os.access(f'{near}/nope-{n}', 0)",
    "names in the home": "os.access(f'/home/user/nope-{n}', 0)",
    "long names": "os.access('/nope/' + 'x' * 200 + str(n), 0)",
    "files that are read-only": "attempt(lambda: os.unlink(f'/usr/nope-{n}'))",
    "files to be made": "attempt(lambda: open(f'/nope/{n}', 'w'))",
    "signals": "attempt(lambda: os.kill(400000 + n, 0))",
    "masks": "attempt(lambda: open('/proc/iomem'))",
}


def run(code: str, secret: Path) -> Result:
    start = (
        "import os, socket\n"
        f"secret, near = {str(secret)!r}, {str(secret.parent)!r}\n"
        "def attempt(act):\n"
        "    try: act()\n"
        "    except OSError: pass\n"
    )
    with Sandbox(POLICY) as sandbox:
        result = sandbox.run([PYTHON, "-I", "-S", "-c", start + code])
    assert result.exit_code == 0, result.stderr
    return result


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    made = tmp_path / "secret"
    made.write_text("not for guests")
    return made


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_before_it_hides_no_refused_file(flood: str, secret: Path) -> None:
    result = run(f"for n in range({MANY}):\n    {flood}\nattempt(lambda: open(secret))\n", secret)
    assert str(secret) in [one.target for one in result.refusals]


def test_a_flood_after_it_hides_no_refused_file(secret: Path) -> None:
    flood = FLOODS["names beside it"]
    result = run(f"attempt(lambda: open(secret))\nfor n in range({MANY}):\n    {flood}\n", secret)
    assert str(secret) in [one.target for one in result.refusals]


def test_names_that_exist_nowhere_are_no_refusals(secret: Path) -> None:
    result = run(f"for n in range({MANY}): os.access(f'{{near}}/nope-{{n}}', 0)\n", secret)
    assert [one for one in result.refusals if "nope" in one.target] == []
    assert result.refusals_dropped > 0


MESSAGES = """
import ctypes
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("namelen", ctypes.c_uint),
                ("iov", ctypes.POINTER(Part)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_long), ("sent", ctypes.c_long)]
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.bind("/tmp/own")
asks = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
part = Part(b"x", 1)
names = [b"\\1\\0/tmp/own\\0", b"\\1\\0" + secret.encode() + b"\\0"]
parts = [Message(name, len(name), ctypes.pointer(part), 1, None, 0, 0, 0) for name in names]
sent = ctypes.CDLL(None).sendmmsg(asks.fileno(), (Message * 2)(*parts), 2, 0)
assert sent == 1, sent
assert own.recv(1) == b"x"
"""


def test_the_second_message_of_a_call_is_in_the_report(secret: Path) -> None:
    result = run(MESSAGES, secret)
    assert f"unix:{secret}" in [one.target for one in result.refusals]
    assert not [one for one in result.refusals if "/tmp/own" in one.target]


def test_a_path_that_a_message_is_sent_to_is_in_the_report(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not this_host().fuse:
        pytest.skip("/dev/fuse can't be opened here")
    monkeypatch.setattr(plan, "_scope", lambda host, empty_work: "changes")
    code = "asks = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
    result = run(code + "attempt(lambda: asks.sendmsg([b'x'], [], 0, secret))\n", secret)
    assert f"unix:{secret}" in [one.target for one in result.refusals]


def test_a_file_of_proc_that_only_root_may_read_is_in_the_report(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if this_host().fuse:
        monkeypatch.setattr(plan, "_scope", lambda host, empty_work: "opens")
    closed = [
        name
        for name in ("timer_list", "vmallocinfo", "slabinfo", "modules")
        if os.path.exists(f"/proc/{name}") and not os.stat(f"/proc/{name}").st_mode & 0o077
    ]
    if not closed:
        pytest.skip("this kernel closes none of them")
    name = closed[0]
    result = run(f"attempt(lambda: open('/proc/{name}'))\nopen('/proc/meminfo').read()\n", secret)
    asked = [one.target for one in result.refusals]
    assert f"/proc/{name}" in asked
    assert "/proc/meminfo" not in asked
