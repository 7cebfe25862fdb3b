"""With ``debug = true`` debuggers work inside, and every other wall holds against one."""

from __future__ import annotations

import shutil

import pytest

from tests.attacks import test_files, test_ipc, test_kernel, test_network, test_processes
from tests.attacks.attack import (
    FINE,
    Attack,
    assert_contained,
    assert_each_wall_holds,
    assert_harmful,
    attempt,
    py,
    rows,
)
from tests.attacks.callers import NAMES, Caller
from tests.attacks.conftest import Scene

DEBUG = {"debug": True}
TRACED = "/programs/rewrite"
OPENED = ("ptrace", "process_vm_readv", "process_vm_writev")

REWRITING = [
    Attack("at-entry", [TRACED, "entry"], "through", ("seccomp",), options=DEBUG),
    Attack("in-a-filter-s-stop", [TRACED, "seccomp"], "through", ("seccomp",), options=DEBUG),
    Attack("suspended", [TRACED, "suspend"], "through", ("seccomp",), options=DEBUG),
]
PID_1 = [
    Attack(
        "pid-1",
        [TRACED, "attach", "1"],
        "attached",
        ("dumpable", "landlock"),
        permitted=f"sleep 9 & {TRACED} attach $! | grep -q attached && echo {FINE}",
        options=DEBUG,
    ),
    Attack(
        "memory-of-pid-1",
        py(
            "import ctypes\nroom = ctypes.create_string_buffer(8)\n"
            "vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), 8)\n"
            "ctypes.CDLL(None, use_errno=True).process_vm_readv(1, vector, 1, vector, 1, 0)\n"
            "print('reached' if ctypes.get_errno() != 1 else 'no')"
        ),
        "reached",
        ("dumpable", "landlock"),
        options=DEBUG,
    ),
]


@rows([*REWRITING, *PID_1])
def test_a_tracer_gets_past_no_wall(attack: Attack, caller: Caller, scene: Scene) -> None:
    outcome = assert_contained(attack, caller, scene)
    assert "not traced" not in outcome.stdout, outcome


@rows([*REWRITING, *PID_1])
def test_a_tracer_gets_through_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_harmful(attack, caller, scene)


@rows(PID_1)
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)


EVERY_OTHER = (
    *test_files.ALL,
    *test_files.SET_ID,
    *test_ipc.ATTACKS,
    *test_kernel.NESTED,
    *test_kernel.EFFECTS,
    *test_network.REACHING,
    *test_network.SOCKETS,
    *test_processes.ATTACKS,
)


@rows(
    attack._replace(options={**attack.options, **DEBUG})
    for attack in EVERY_OTHER
    if attack.name not in OPENED
)
def test_every_other_attack_is_contained_with_debug(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_contained(attack, caller, scene)


GDB = "gdb -q -batch -ex run -ex 'print 6*7' -ex bt --args sleep 0 && echo fine"
STRACE = "strace -f -o /tmp/trace sh -c 'cat /etc/hosts; exit 3'; echo $?; wc -l < /tmp/trace"
READ = Attack("", test_processes.on_child(
    test_processes.VECTOR
    + "print(call(310, child, ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0), "
    "room.value.decode())"
), "child-memory", (), options=DEBUG)  # fmt: skip


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_debuggers_work_inside(caller: Caller, scene: Scene) -> None:
    assert "12 child-memory" in attempt(READ, caller, scene).stdout
    if shutil.which("strace"):
        assert caller.run(STRACE, debug=True).stdout.split()[-2] == "3"
        assert caller.run(STRACE).stdout.split()[-2] != "3"
    if shutil.which("gdb"):
        assert "$1 = 42" in caller.run(GDB, debug=True).stdout
