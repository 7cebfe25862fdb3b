"""Ways around the limits: what is used where a count from outside is slow or unable to see. Each is
tried where a control group counts, and where the supervisor has to."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.attacks.callers import LIBRARY, NAMES, PROGRAMS, Caller

pytestmark = pytest.mark.long

MB = 1 << 20
LIMIT_MB, WANTED_MB = 100, 1000
CPU_S, WANTED_CPU_MS = 1.0, 6000
DISK_MB, WANTED_DISK_MB = 64, 600
HOLD_S = "20"
ROOM = {"memory_bytes": LIMIT_MB * MB, "disk_bytes": 2000 * MB, "files": 4096, "time_s": 120.0}


class Evasion(NamedTuple):
    kind: str
    why: str


MEMORY = [
    Evasion("dropped", "pages of a shared mapping that nobody has mapped any more"),
    Evasion("zero-dropped", "the same of /dev/zero"),
    Evasion("unmapped", "a shared mapping of which only a part is still mapped"),
    Evasion("children", "a shared mapping that children fill and leave"),
    Evasion("memfd-closed", "a memory file that is mapped in part, and not open"),
    Evasion("memfd-in-flight", "memory files on their way through a socket"),
    Evasion("accept-unix", "data for connections that nobody accepts"),
    Evasion("accept-tcp", "the same over TCP"),
    Evasion("datagrams-unix", "datagrams whose senders are gone"),
    Evasion("datagrams-udp", "the same over UDP"),
]
CPU = [
    Evasion("unwaited", "children that nobody waits for (SA_NOCLDWAIT)"),
    Evasion("unwaited-short", "the same, too short to be seen"),
    Evasion("unwaited-handled", "the same, with a handler"),
    Evasion("ignored", "SIGCHLD ignored"),
    Evasion("threads", "threads that come and go"),
    Evasion("orphans", "children of children, whose parents are gone"),
]
DISK = [
    Evasion("unwaited-writers", "files written by children that nobody waits for"),
    Evasion("ignored-writers", "the same with SIGCHLD ignored"),
    Evasion("unnamed-files", "the same into files without a name"),
]


def cases(evasions: list[Evasion]) -> pytest.MarkDecorator:
    """Each for each caller, with a control group where one can be had, and without."""
    return pytest.mark.parametrize(
        ("caller", "evasion", "counted"),
        [
            pytest.param(name, evasion, counted, id=f"{name}-{evasion.kind}-{counted}")
            for evasion in evasions
            for name in NAMES
            for counted in (("cgroup", "supervisor") if name == "root" else ("supervisor",))
        ],
        indirect=["caller"],
    )


def degraded(counted: str) -> list[str]:
    return [] if counted == "cgroup" else ["limits.cgroup"]


@cases(MEMORY)
@pytest.mark.usefixtures("alone")
def test_memory_is_counted_wherever_it_lies(caller: Caller, evasion: Evasion, counted: str) -> None:
    command = ["/programs/evade", evasion.kind, str(WANTED_MB), HOLD_S]
    outcome = caller.run(command, limits=ROOM, degrade=degraded(counted))
    assert outcome.reason == "memory limit", (evasion.why, outcome)
    # Of datagrams whose senders are gone nobody knows the sizes: a queue of them counts as full.
    few = "5" if evasion.kind == "datagrams-unix" else "20"
    small = ["/programs/evade", evasion.kind, few, "0.5"]
    assert "held" in caller.run(small, limits=ROOM, degrade=degraded(counted)).stdout


@cases(CPU)
@pytest.mark.usefixtures("alone")
def test_cpu_time_of_the_dead_counts(caller: Caller, evasion: Evasion, counted: str) -> None:
    """The guest measures itself: what it had used when it was ended is within 10 %, or what two
    processors do in 250 ms."""
    command = ["/programs/evade", evasion.kind, str(WANTED_CPU_MS)]
    limits = {"cpu_s": CPU_S, "time_s": 120.0}
    outcome = caller.run(command, limits=limits, degrade=degraded(counted))
    assert outcome.reason == "cpu limit", (evasion.why, outcome)
    used = [int(word) for word in outcome.stdout.split() if word.isdigit()]
    assert used, outcome
    assert used[-1] <= CPU_S * 1000 + 250 * (os.cpu_count() or 1), outcome
    little = caller.run(
        ["/programs/evade", evasion.kind, "200"], limits=limits, degrade=degraded(counted)
    )
    assert "held" in little.stdout, little


@cases(DISK)
@pytest.mark.usefixtures("alone")
def test_what_the_dead_wrote_counts(caller: Caller, evasion: Evasion, counted: str) -> None:
    limits = {"disk_bytes": DISK_MB * MB, "time_s": 120.0}
    command = ["/programs/evade", evasion.kind, str(WANTED_DISK_MB), "5"]
    work = caller.directory()
    outcome = caller.run(command, work=str(work), limits=limits, degrade=degraded(counted))
    assert outcome.reason == "disk limit", (evasion.why, outcome)
    assert "held" not in outcome.stdout
    # 10 ms of writing on an idle machine; on a busy one the supervisor looks later.
    assert sum(f.stat().st_blocks * 512 for f in work.iterdir()) < WANTED_DISK_MB / 2 * MB
    little = [*command[:2], "20", "0.1"]
    held = caller.run(
        little, work=str(caller.directory()), limits=limits, degrade=degraded(counted)
    )
    assert "held" in held.stdout, held


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_many_empty_files_count_as_memory(caller: Caller) -> None:
    """An inode of a private filesystem takes about 1 KB, however empty the file is."""
    limits = {"memory_bytes": 32 * MB, "disk_bytes": 2000 * MB, "time_s": 300.0}
    outcome = caller.run(["/programs/evade", "inodes", "64", "5"], limits=limits)
    assert outcome.reason == "memory limit" or "held" not in outcome.stdout, outcome
    assert "held" in caller.run(["/programs/evade", "inodes", "4", "0.1"], limits=limits).stdout


NEIGHBOUR = """
import mmap, sys, time
while True:
    for shared in (False, True):
        flags = (mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE) | mmap.MAP_ANONYMOUS
        held = mmap.mmap(-1, {megabytes} << 20, flags)
        for at in range(0, {megabytes} << 20, 4096):
            held[at] = 1
        print('taken', flush=True)
        held.close()
"""
RUNS = int(os.environ.get("WARDIAN_TEST_INNOCENT_RUNS", "20"))
NEIGHBOUR_MB = int(os.environ.get("WARDIAN_TEST_NEIGHBOUR_MB", "1024"))


@pytest.fixture
def neighbour(caller: Caller) -> Iterator[subprocess.Popen[Any]]:
    """A program of the same user that takes and frees much memory, again and again."""
    code = NEIGHBOUR.format(megabytes=NEIGHBOUR_MB)
    with caller.popen([caller.python, "-I", "-c", code], stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


INNOCENT = """
import mmap, os, subprocess, time
shared = mmap.mmap(-1, 1 << 20); shared[:] = b'x' * (1 << 20)
held = bytearray(20 << 20)
for _ in range(5): subprocess.run(['true'])
time.sleep(0.3)
print('fine')
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_a_neighbour_that_takes_memory_ends_no_innocent_run(
    caller: Caller, neighbour: subprocess.Popen[Any]
) -> None:
    limits = {"memory_bytes": LIMIT_MB * MB, "cpu_s": 60.0, "time_s": 120.0}
    assert neighbour.stdout is not None
    assert neighbour.stdout.readline() == b"taken\n"
    for number in range(RUNS):
        outcome = caller.run(
            ["python3", "-I", "-S", "-c", INNOCENT], limits=limits, degrade=["limits.cgroup"]
        )
        assert "fine" in outcome.stdout, (number, outcome)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_descriptors_in_flight_in_one_guest_stop_no_other_program(caller: Caller) -> None:
    """Not those of the same user, and no other run."""
    stage = caller.stage
    guest = caller.popen(
        [caller.python, "-I", "-c", FLOOD, str(stage / LIBRARY), str(stage / PROGRAMS)],
        stdout=subprocess.PIPE,
    )
    try:
        assert guest.stdout is not None
        assert int(guest.stdout.readline()) > 200
        outside = caller.popen(
            [caller.python, "-I", "-c", PASS_ONE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert outside.communicate(timeout=30)[0] == b"passed\n"
        started = time.monotonic()
        assert "fine" in caller.run("echo fine").stdout
        assert time.monotonic() - started < 20
    finally:
        guest.kill()
        guest.communicate(timeout=60)


PASS_ONE = """
import resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [0])
print('passed')
"""
FLOOD = """
import sys
sys.path.insert(0, sys.argv[1])
from wardian import Policy, Sandbox, Share
policy = Policy.default().with_shares([Share(sys.argv[2], "/programs", False)])
with Sandbox(policy) as sandbox:
    command = ["/programs/evade", "in-flight", "100000", "20"]
    sandbox.start(command, on_stdout=lambda b: print(b.decode(), flush=True)).wait()
"""
