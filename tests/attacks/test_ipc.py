"""System V and POSIX objects: the host's are not the guest's, and the guest's end with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.attack import (
    NO_WALLS,
    Attack,
    assert_contained,
    assert_each_wall_holds,
    assert_harmful,
    held_by_several,
    py,
    rows,
)
from tests.attacks.callers import NAMES, Caller
from tests.attacks.conftest import Scene

KEY = 0x570000 + os.getpid() % 0x10000  # tests may run side by side
SIZE = str(100_000 + os.getpid())
QUEUE = f"attack-{os.getpid()}"
LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
# Made by the caller on the host, open to everyone; removed when its standard input closes.
MAKE = LIBC + (
    "__import__('os').umask(0)\n"
    f"shm = libc.shmget({KEY}, 4096, 0o1666); sem = libc.semget({KEY}, 1, 0o1666); "
    f"msg = libc.msgget({KEY}, 0o1666)\n"
    f"mq = libc.syscall(240, b'{QUEUE}', 0o102, 0o666, None)\n"
    f"memory = open('/dev/shm/{QUEUE}-%d' % __import__('os').getuid(), 'w')\n"
    "print(shm, sem, msg, mq, flush=True); input()\n"
    "libc.shmctl(shm, 0, None); libc.semctl(sem, 0, 0); libc.msgctl(msg, 0, None)\n"
    f"libc.syscall(241, b'{QUEUE}'); __import__('os').unlink(memory.name)\n"
)


@pytest.fixture
def objects(caller: Caller) -> Iterator[None]:
    process = caller.popen(
        [caller.python, "-I", "-c", MAKE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "-1" not in process.stdout.readline()
    yield
    process.communicate("\n", timeout=20)


def found(expression: str) -> list[str]:
    return py(LIBC + f"print('found' if {expression} >= 0 else 'no')")


def own(expression: str) -> list[str]:
    return py(LIBC + f"print('fine' if {expression} >= 0 else 'no')")


ATTACKS = [
    Attack(
        "shared-memory",
        found(f"libc.shmget({KEY}, 4096, 0)"),
        "found",
        ("ipc",),
        permitted=own("libc.shmget(0, 4096, 0o1600)"),
    ),
    Attack(
        "semaphores",
        found(f"libc.semget({KEY}, 1, 0)"),
        "found",
        ("ipc",),
        permitted=own("libc.semget(0, 1, 0o1600)"),
    ),
    Attack(
        "messages",
        found(f"libc.msgget({KEY}, 0)"),
        "found",
        ("ipc",),
        permitted=own("libc.msgget(0, 0o1600)"),
    ),
    # Landlock has no rule for the queues' own filesystem, so that they are closed to begin with.
    Attack(
        "posix-queue",
        found(f"libc.syscall(240, b'{QUEUE}', 0, 0, None)"),
        "found",
        ("ipc", "landlock"),
    ),
    Attack(
        "listed",
        py(f"print('found' if '{KEY}' in open('/proc/sysvipc/shm').read() else 'no')"),
        "found",
        ("ipc",),
    ),
    Attack(
        "posix-memory",
        "ls /dev/shm",
        f"{QUEUE}-",
        NO_WALLS,
        permitted="echo x > /dev/shm/own && echo fine",
    ),
]


@rows(ATTACKS)
@pytest.mark.usefixtures("objects")
def test_objects_of_the_host_are_not_found(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(ATTACKS)
@pytest.mark.usefixtures("objects")
def test_objects_of_the_host_are_found_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_harmful(attack, caller, scene)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_objects_of_the_guest_end_with_it(caller: Caller) -> None:
    """Without the ipc namespace a segment stays on the host when nobody is left."""

    def segments() -> set[str]:
        rows = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        return {row.split()[1] for row in rows if row.split()[3] == SIZE}

    make = py(LIBC + f"print(libc.shmget(0, {SIZE}, 0o1600))")
    assert caller.run(make).stdout.strip().isdigit()
    assert segments() == set()
    caller.run(make, without=("ipc",))
    left = segments()
    remove = (
        f"import ctypes\nfor i in {[int(i) for i in left]}: ctypes.CDLL(None).shmctl(i, 0, None)"
    )
    if caller.uid == 0:
        subprocess.run([caller.python, "-I", "-c", remove], check=True)
    else:
        caller.popen([caller.python, "-I", "-c", remove]).wait()
    assert left
    assert segments() == set()
    assert os.path.isdir("/dev/shm")


@rows(held_by_several(ATTACKS))
@pytest.mark.usefixtures("objects")
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)
