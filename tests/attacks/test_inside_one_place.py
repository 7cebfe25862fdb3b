"""What a command of a living sandbox can't do to the others and to pid 1 (docs/boundary.md, "Inside
one place"); and that it can without the wall that keeps it from that."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.core.conftest import Build, build
from wardian import Policy, Sandbox, Share
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.run.records import record

PYTHON = os.path.realpath(sys.executable)
_ = build  # a fixture

CALL = (
    "import ctypes, os, time\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "def call(*args):\n"
    "    result = libc.syscall(*map(ctypes.c_long, args))\n"
    "    return result if result >= 0 else -ctypes.get_errno()\n"
)
# Each prints "done" if it could be done to pid 1.
AGAINST_PID_1 = {
    "nice": "os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "nice-user": "os.setpriority(os.PRIO_USER, 0, 19)",
    "idle": "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
    "one-cpu": "os.sched_setaffinity(1, {min(os.sched_getaffinity(0))})",
    "limits": "import resource; resource.prlimit(1, resource.RLIMIT_MSGQUEUE, (3, 3))",
    "disk-priority": "assert call(251 if os.uname().machine == 'x86_64' else 30, 1, 1, 3 << 13) == 0",
}
INTO_PID_1 = {
    "memory-map": "open('/proc/1/maps').read()",
    "environment": "open('/proc/1/environ').read()",
    "descriptors": "os.listdir('/proc/1/fd')",
    "descriptors-one-by-one": "assert any(os.path.lexists(f'/proc/1/fd/{n}') for n in range(30))",
}
RETAG = {
    "setrlimit": "call(160 if os.uname().machine == 'x86_64' else 164, 10, low)",
    "prlimit": "call(302 if os.uname().machine == 'x86_64' else 261, 0, 10, low, 0)",
    "prlimit-by-pid": "call(302 if os.uname().machine == 'x86_64' else 261, os.getpid(), 10, low, 0)",
    "prlimit-high-bits": "call(302 if os.uname().machine == 'x86_64' else 261, 1 << 32, (1 << 32) | 10, low, 0)",
    "from-another-thread": (
        "import threading; t = threading.Thread(target=lambda: call(160, 10, low)); t.start(); t.join()"
    ),
}


def python(code: str) -> list[str]:
    return [PYTHON, "-I", "-S", "-c", CALL + code]


@contextmanager
def place(launcher: Path | None = None, *walls: str) -> Iterator[Sandbox]:
    """A living sandbox, without these walls."""
    with Sandbox.create() as sandbox:
        if launcher is not None:
            flags = b"".join(record("flag", f"without-{wall}") for wall in walls)
            sandbox._backend = sandbox._place = Wardian(binary=str(launcher), extra=flags)
        sandbox.run(["true"])
        yield sandbox


def attempt(sandbox: Sandbox, act: str) -> str:
    return sandbox.run(
        python(f"try:\n    {act}\n    print('done')\nexcept OSError as e: print(e)")
    ).text


@pytest.mark.parametrize("act", AGAINST_PID_1)
def test_pid_1_is_scheduled_and_limited_as_before(act: str, build: Build) -> None:
    with place() as sandbox:
        assert "not permitted" in attempt(sandbox, AGAINST_PID_1[act])
        look = "print(os.nice(0), os.sched_getscheduler(0), len(os.sched_getaffinity(0)))"
        mine = f"0 0 {len(os.sched_getaffinity(0))}\n"
        assert sandbox.run(python(look)).text == mine
    with place(build("wardian-launch-test"), "tags") as sandbox:
        assert "done" in attempt(sandbox, AGAINST_PID_1[act]), "the wall is there for nothing"


@pytest.mark.parametrize("act", INTO_PID_1)
def test_pid_1_can_t_be_looked_into(act: str, build: Build) -> None:
    with place() as sandbox:
        assert "done" not in attempt(sandbox, INTO_PID_1[act])
    with place(build("wardian-launch-test"), "dumpable") as sandbox:
        assert "done" in attempt(sandbox, INTO_PID_1[act]), "the wall is there for nothing"


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV, signal.SIGCHLD, 34]
)
def test_pid_1_goes_on_whatever_it_is_sent(number: int) -> None:
    with place() as sandbox:
        sandbox.run(python(f"for _ in range(2000):\n    os.kill(1, {number})"))
        assert sandbox.run(["echo", "on"], timeout_s=20).text == "on\n"


def escape(act: str) -> str:
    """Leave session and parent behind, lower the mark if that goes, and say so."""
    return (
        "if os.fork(): time.sleep(60)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "room = ctypes.create_string_buffer((12345).to_bytes(8, 'little') * 2)\n"
        "low = ctypes.addressof(room)\n"
        f"{act}\n"
        "print('up', flush=True)\n"
        "null = os.open('/dev/null', os.O_RDWR); os.dup2(null, 1); os.dup2(null, 2)\n"
        "time.sleep(60)\n"
    )


def escaped(sandbox: Sandbox, act: str) -> bool:
    """Is a process of it alive once its command was killed?"""
    process = sandbox.start(python(escape(act)))
    assert next(iter(process.stdout)) == b"up\n"
    process.kill()
    assert process.wait(30).reason == "killed"
    return "12345" in sandbox.run(["sh", "-c", "cat /proc/[0-9]*/cmdline"]).text


@pytest.mark.parametrize("way", RETAG)
def test_no_process_leaves_its_command(way: str, build: Build) -> None:
    with place() as sandbox:
        assert not escaped(sandbox, RETAG[way])
    with place(build("wardian-launch-test"), "tags") as sandbox:
        assert escaped(sandbox, RETAG[way]), "the wall is there for nothing"


HOSTILE_FORKS = {
    "a-chain-of-forks": "if os.fork(): time.sleep(99)\nwhile True:\n    if os.fork(): os._exit(0)\n    os.setsid()",
    "without-its-first-thread": (
        "import threading\n"
        "if os.fork(): os._exit(0)\n"
        "threading.Thread(target=lambda: time.sleep(99)).start()\n"
        "print('up', flush=True); call(60 if os.uname().machine == 'x86_64' else 93, 0)"
    ),
    "a-subreaper": (
        "libc.prctl(36, 1, 0, 0, 0)\n"
        "for _ in range(20):\n    if os.fork() == 0:\n        os.setsid(); os.fork(); time.sleep(99)\n"
        "time.sleep(99)"
    ),
    "stopped": (
        "import signal\nfor _ in range(20):\n"
        "    if os.fork() == 0:\n        os.setsid(); os.kill(os.getpid(), signal.SIGSTOP)\n"
        "time.sleep(99)"
    ),
    "strange-names": (
        "for n in range(20):\n    if os.fork() == 0:\n"
        "        libc.prctl(15, b') Z 1 1\\n(' + str(n).encode(), 0, 0, 0)\n"
        "        os.setsid(); time.sleep(99)\n"
        "time.sleep(99)"
    ),
    "thousands-of-zombies": (
        "for _ in range(400):\n    if os.fork() == 0: os._exit(0)\ntime.sleep(99)"
    ),
    "siblings": (  # clone(CLONE_PARENT): children of pid 1's
        "nr = 56 if os.uname().machine == 'x86_64' else 220\n"
        "for _ in range(20):\n"
        "    if call(nr, 0x8000 | 17, 0, 0, 0, 0) == 0: os.setsid(); time.sleep(99)\n"
        "time.sleep(99)"
    ),
}


@pytest.mark.parametrize("way", HOSTILE_FORKS)
def test_kill_ends_a_command_however_it_forks(way: str) -> None:
    with place() as sandbox:
        for _ in range(2):
            process = sandbox.start(python(HOSTILE_FORKS[way]))
            time.sleep(0.5)
            process.kill()
            process.wait(30)
        if way == "without-its-first-thread":  # its first process had ended: the rest lives on
            return
        left = "print(len([n for n in os.listdir('/proc') if n.isdigit()]))"
        assert sandbox.run(python(left)).text == "2\n", "more than pid 1 and this one"


@pytest.mark.parametrize("way", HOSTILE_FORKS)
def test_nothing_outlives_the_place(way: str) -> None:
    with place() as sandbox:
        launcher = sandbox._in_place("this test").pid
        sandbox.start(python(HOSTILE_FORKS[way]), background=True)
        time.sleep(0.3)
        (reaper,) = map(int, Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split())
        namespace = os.readlink(f"/proc/{reaper}/ns/pid")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                assert os.readlink(entry / "ns/pid") != namespace
            except OSError:
                continue


def test_who_reads_for_pid_1_and_is_stopped_does_not_stay() -> None:
    """A process that stops every other one, the reaper's readers among them."""
    stop = (
        "import signal\n"
        "if os.fork(): time.sleep(0.5); os._exit(0)\n"
        "while True:\n"
        "    for name in os.listdir('/proc'):\n"
        "        if name.isdigit() and int(name) > os.getpid():\n"
        "            try: os.kill(int(name), signal.SIGSTOP)\n"
        "            except OSError: pass\n"
    )
    with place() as sandbox:
        stopper = sandbox.start(python(stop), background=True)
        stopper.wait(30)
        for _ in range(3):
            assert sandbox.run(["sh", "-c", "sleep 99 &"], timeout_s=1).reason == "time limit"
        names = sandbox._in_place("this test").pid
        assert os.path.exists(f"/proc/{names}")


@pytest.mark.parametrize("orphan", [True, False])
def test_a_flood_hides_no_refusal_of_another_command(orphan: bool, tmp_path: Path) -> None:
    flood = (
        ("if os.fork(): os._exit(0)\n" if orphan else "")
        + "os.setsid() if os.getpid() != os.getsid(0) else None\nn = 0\n"
        "while n < 20000:\n    n += 1\n"
        "    for call in (os.stat, os.unlink, os.mkdir, os.listdir):\n"
        "        try: call('/etc/none-%d' % n)\n        except OSError: pass\n"
        "print('flooded', flush=True); time.sleep(60)\n"
    )
    secret = tmp_path / "secret"
    secret.write_text("x")
    with Sandbox.create(Policy.default().but(explain=True)) as sandbox:
        process = sandbox.start(python(flood), background=True)
        assert next(iter(process.stdout)) == b"flooded\n" or orphan
        result = sandbox.run(["cat", str(secret)])
        assert str(secret) in [one.target for one in result.refusals]
        assert not [one for one in result.refusals if "none-" in one.target]


def test_a_command_has_three_descriptors_and_none_of_pid_1_s(tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    share.chmod(0o777)
    with Sandbox.create(Policy.default().with_shares([Share(str(share), "/in", True)])) as sandbox:
        look = "print(sorted(os.listdir('/proc/self/fd')), os.getppid())"
        for _ in range(3):
            assert sandbox.run(python(look)).text == "['0', '1', '2', '3'] 1\n"
