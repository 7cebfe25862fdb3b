"""What a user or a machine has one allowance of: a guest gets a small part of it, and the rest
stays with the guest's caller, with other programs and with other runs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.callers import LIBRARY, NAMES, Caller

pytestmark = pytest.mark.long

MB = 1 << 20

TAKE = {
    # asynchronous events: fs.aio-max-nr is one number for the whole machine
    "events": """
import ctypes
libc = ctypes.CDLL(None)
taken = 0
for size in (1024, 1):
    while taken < 100000:
        context = ctypes.c_ulong(0)
        if libc.syscall(206, size, ctypes.byref(context)) != 0:
            break
        taken += size
print(taken, flush=True)
""",
    # POSIX message queues: RLIMIT_MSGQUEUE of whoever owns the user namespace
    "queues": """
import ctypes
libc = ctypes.CDLL(None)
taken = 0
while taken < 1000 and libc.syscall(240, b'q%d' % taken, 0o102, 0o600, None) >= 0:
    taken += 1
print(taken, flush=True)
""",
    # inotify instances: 128 of one user's, in the same way
    "instances": """
import ctypes
libc = ctypes.CDLL(None)
taken = 0
while taken < 1000 and libc.inotify_init() >= 0:
    taken += 1
print(taken, flush=True)
""",
}
# At least one is what a program needs; at most a quarter of what there is by default.
PART = {"events": (1024, 65536 // 4), "queues": (1, 4), "instances": (1, 32)}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("what", sorted(TAKE))
def test_a_guest_gets_a_small_part_of_an_allowance(caller: Caller, what: str) -> None:
    outcome = caller.run(["python3", "-I", "-S", "-c", TAKE[what]])
    least, most = PART[what]
    assert least <= int(outcome.stdout) <= most, outcome


LOCK = """
import mmap
import ctypes
libc = ctypes.CDLL(None)
def locked(size):
    room = mmap.mmap(-1, size)
    return libc.mlock(ctypes.byref(ctypes.c_char.from_buffer(room)), size) == 0
print(locked(64 << 10), locked(6 << 20))
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_guest_locks_a_little_memory_and_not_all_that_its_user_may(caller: Caller) -> None:
    outcome = caller.run(["python3", "-I", "-S", "-c", LOCK])
    assert outcome.stdout.split() == ["True", "False"], outcome


SPLICE = """
import ctypes, mmap, os
libc = ctypes.CDLL(None)
class Part(ctypes.Structure):
    _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
room = mmap.mmap(-1, 4096)
part = Part(ctypes.addressof(ctypes.c_char.from_buffer(room)), 1)
done = 0
for _ in range(200):
    reader, writer = os.pipe()
    done += libc.vmsplice(writer, ctypes.byref(part), 1, 0) == 1
    os.close(reader), os.close(writer)
print(done)
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_vmsplice_goes_on_a_few_times_where_nobody_counts_what_it_pins(caller: Caller) -> None:
    """One byte of it pins a huge page of 2 MiB, which no process has mapped then."""
    command = ["python3", "-I", "-S", "-c", SPLICE]
    outcome = caller.run(command, degrade=["limits.cgroup"])
    assert 1 <= int(outcome.stdout) <= 16, outcome


MANY_NAMES = """
import os
os.mkdir('/work/d')
open('/work/file', 'w').close()
name = 'n' * 240
try:
    for i in range({count}):
        os.link('/work/file', f'/work/d/{{i:05}}{{name}}')
except OSError as problem:
    print(problem)
print('done')
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_a_directory_that_grows_of_names_alone_counts(caller: Caller) -> None:
    """Hard links take no inode: only the directory itself grows, by 300 bytes for each."""
    limits = {"disk_bytes": 4 * MB, "time_s": 60.0, "cpu_s": 60.0}
    command = ["python3", "-I", "-S", "-c", MANY_NAMES.format(count=40000)]
    work = caller.directory()
    outcome = caller.run(command, work=str(work), limits=limits)
    assert outcome.reason == "disk limit", outcome
    few = ["python3", "-I", "-S", "-c", MANY_NAMES.format(count=1000)]
    done = caller.run(few, work=str(caller.directory()), limits=limits)
    assert "done" in done.stdout, done
    assert done.reason == "exited"


SLEEPERS = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
until = time.monotonic() + 3
while time.monotonic() < until:
    if os.fork() == 0:
        time.sleep(0.03)
        os._exit(0)
    time.sleep(0.04)
print('fine')
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_children_that_sleep_and_are_not_waited_for_cost_no_cpu_time(caller: Caller) -> None:
    command = ["python3", "-I", "-S", "-c", SLEEPERS]
    limits = {"cpu_s": 1.0, "time_s": 60.0}
    outcome = caller.run(command, limits=limits, degrade=["limits.cgroup"])
    assert "fine" in outcome.stdout, outcome


RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from wardian import Sandbox
with Sandbox() as sandbox:
    command = ["sh", "-c", "echo up; sleep 60"]
    sandbox.start(command, on_stdout=lambda b: print("up", flush=True)).wait()
"""
STALE_S = 10  # as in core/cgroup.c


def groups(controller: str) -> set[str]:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            place = Path("/sys/fs/cgroup") / controllers / path.lstrip("/")
            return {one.name for one in place.glob("wardian-*")}
    return set()


def launchers_of(process: subprocess.Popen[Any]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


needs_groups = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/sys/fs/cgroup/memory/cgroup.procs").exists(),
    reason="needs version 1 control groups, and root's right to make one",
)


@contextmanager
def a_run(caller: Caller) -> Iterator[subprocess.Popen[Any]]:
    """A process with one run that is up; killed afterwards."""
    process = caller.popen(
        [caller.python, "-I", "-c", RUN, str(caller.stage / LIBRARY)], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def group_of(process: subprocess.Popen[Any]) -> str:
    """The group of the run that the process has; other runs go on beside it."""
    (pid,) = launchers_of(process)
    (found,) = [name for name in groups("memory") if name.startswith(f"wardian-{pid}-")]
    return found


def soon_gone(group: str) -> bool:
    deadline = time.monotonic() + 10
    while group in groups("memory") and time.monotonic() < deadline:
        time.sleep(0.05)
    return group not in groups("memory")


@needs_groups
@pytest.mark.parametrize("caller", ["root"], indirect=True)
def test_the_control_group_of_a_run_is_gone_with_it(caller: Caller) -> None:
    with a_run(caller) as process:
        group = group_of(process)
    assert soon_gone(group)


@needs_groups
@pytest.mark.parametrize("caller", ["root"], indirect=True)
def test_the_group_of_a_killed_supervisor_is_removed_by_a_later_run(caller: Caller) -> None:
    with a_run(caller) as process:
        left = group_of(process)
        for pid in launchers_of(process):
            os.kill(pid, signal.SIGKILL)
        time.sleep(STALE_S + 1.5)
        assert "fine" in caller.run("echo fine; sleep 0.5").stdout  # quick ones do not look
        assert soon_gone(left)
