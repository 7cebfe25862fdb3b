"""Processes, signals, memory and descriptors of the host, and of pid 1 inside."""

from __future__ import annotations

import os
import subprocess

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
from tests.attacks.callers import LIBRARY, NAMES, Caller
from tests.attacks.conftest import Scene

# Of a child of its own, so that only the filter stands in the way.
CHILD = (
    "import os, ctypes, signal, time\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "secret = ctypes.create_string_buffer(b'child-memory'); end = os.pipe()\n"
    "child = os.fork()\n"
    "if child == 0: signal.pause()\n"
    "def call(*args):\n"
    "    result = libc.syscall(*map(ctypes.c_long, args))\n"
    "    return result if result >= 0 else -ctypes.get_errno()\n"
    "try:\n    {act}\n"
    "finally: os.kill(child, 9)\n"
)
VECTOR = (
    "room = ctypes.create_string_buffer(12); "
    "here = (ctypes.c_size_t * 2)(ctypes.addressof(room), 12); "
    "there = (ctypes.c_size_t * 2)(ctypes.addressof(secret), 12); "
)


def on_child(act: str) -> list[str]:
    return py(CHILD.format(act=act))


# Pid 1 is the caller's own program, so ptrace's rules hold (not dumpable), and Landlock's (pid 1 is
# outside of the guest's domain); both must go.
PID_1 = ("dumpable", "landlock")

ATTACKS = [
    Attack(
        "signal",
        py("import os\nos.kill(@VICTIM@, 0); print('reached')"),
        "reached",
        ("pid", "landlock"),
        as_root=("identity",),
        permitted=py("import os\nos.kill(os.getpid(), 0); print('fine')"),
    ),
    Attack(
        "signal-a-group",
        py("import os\nos.killpg(os.getpgid(@VICTIM@), 0); print('reached')"),
        "reached",
        ("pid", "landlock"),
        as_root=("identity",),
    ),
    Attack(
        "pidfd",
        py("import os\nos.pidfd_open(@VICTIM@); print('reached')"),
        "reached",
        ("pid",),
        permitted=py("import os\nos.pidfd_open(os.getpid()); print('fine')"),
    ),
    Attack(
        "command-line",
        "tr '\\0' ' ' < /proc/@VICTIM@/cmdline",
        "sleep 600",
        NO_WALLS,
        permitted="tr '\\0' ' ' < /proc/self/cmdline | grep -q tr && echo fine",
    ),
    Attack("list", "ls /proc | grep -x @VICTIM@", "@VICTIM@", NO_WALLS),
    Attack(
        "environment", "env", "the-callers-secret", NO_WALLS, permitted="test $HOME && echo fine"
    ),
    Attack("environment-of-all", "cat /proc/[0-9]*/environ", "the-callers-secret", NO_WALLS),
    Attack(
        "environment-of-pid-1",
        "cat /proc/1/environ && echo read",
        "read",
        PID_1,
        permitted="cat /proc/self/environ >/dev/null && echo fine",
    ),
    Attack(
        "descriptors-of-pid-1",
        "ls /proc/1/fd && echo listed",
        "listed",
        ("dumpable",),
        permitted="ls /proc/self/fd >/dev/null && echo fine",
    ),
    Attack(
        "program-of-pid-1",
        "readlink /proc/1/exe && echo read",
        "read",
        PID_1,
        permitted="readlink /proc/self/exe >/dev/null && echo fine",
    ),
    Attack(
        "memory-of-pid-1",
        py("open('/proc/1/mem', 'rb'); print('opened')"),
        "opened",
        PID_1,
        permitted=py("open('/proc/self/mem', 'rb'); print('fine')"),
    ),
    Attack("maps-of-pid-1", py("open('/proc/1/maps').read(); print('read')"), "read", PID_1),
    Attack(
        "rewrite-pid-1",
        py("open('/proc/1/mem', 'r+b'); print('opened')"),
        "opened",
        (*PID_1, "readonly"),
    ),
    Attack(
        "ptrace",
        on_child("print('traced' if call(101, 0x4206, child, 0, 0) == 0 else 'no')"),
        "traced",
        ("seccomp",),
        permitted=on_child("print('fine')"),
    ),
    Attack(
        "process_vm_readv",
        on_child(
            VECTOR + "call(310, child, ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0); "
            "print(room.value.decode())"
        ),
        "child-memory",
        ("seccomp",),
    ),
    Attack(
        "process_vm_writev",
        on_child(
            VECTOR + "print('wrote', call(311, child, ctypes.addressof(here), 1, "
            "ctypes.addressof(there), 1, 0))"
        ),
        "wrote 12",
        ("seccomp",),
    ),
    Attack(
        "pidfd_getfd",
        on_child("print('taken' if call(438, os.pidfd_open(child), end[0], 0) > 0 else 'no')"),
        "taken",
        ("seccomp",),
    ),
    Attack(
        "kcmp",
        on_child("print('compared' if call(312, os.getpid(), child, 1, 0, 0) >= 0 else 'no')"),
        "compared",
        ("seccomp",),
    ),
]


@rows(ATTACKS)
def test_processes_out_of_reach(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(ATTACKS)
def test_processes_in_reach_without_the_wall(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_harmful(attack, caller, scene)


LEAKS = """
import os, sys
sys.path.insert(0, {library!r})
from wardian import Sandbox
from wardian.sandbox.backends.wardian import Wardian
from wardian.sandbox.run.records import record
opened = [os.open({home!r}, 0), os.open({path!r}, os.O_RDONLY), os.open({path!r}, os.O_RDWR)]
for number, fd in enumerate([*opened, *opened]):
    os.dup2(fd, (6, 7, 8, 40, 41, 42)[number], inheritable=True)
act = '''
import os
for fd in range(3, 64):
    try: print('file', os.pread(fd, 99, 0))
    except OSError: pass
    try: print('directory', os.read(os.open('open', os.O_RDONLY, dir_fd=fd), 99))
    except OSError: pass
    try: os.fchdir(fd); print('entered', os.listdir('.'))
    except OSError: pass
print(sorted(os.listdir('/proc/self/fd')))
'''
with Sandbox.create(fresh={fresh!r}) as sandbox:
    if {walls!r}:
        flags = b''.join(record('flag', 'without-' + wall) for wall in {walls!r})
        sandbox._backend = Wardian(binary={launcher!r}, extra=flags)
    print(sandbox.run(['python3', '-I', '-S', '-c', act]).text)
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize(
    ("walls", "found"),
    [
        ((), []),
        (("close",), ["file"]),
        (("close", "landlock"), ["file", "directory", "entered"]),
    ],
    ids=["all-walls", "without-close", "without-close-and-landlock"],
)
def test_descriptors_that_leaked_into_the_caller_do_not_leak_into_the_guest(
    caller: Caller, scene: Scene, walls: tuple[str, ...], found: list[str]
) -> None:
    """Files and directories, at low numbers and high ones. Landlock keeps what lies in a leaked
    directory closed, and can't close an open file."""
    code = LEAKS.format(
        library=str(caller.stage / LIBRARY),
        home=scene["HOME"],
        path=scene["CLOSED"],
        walls=walls,
        fresh=not caller.living or bool(walls),
        launcher=str(caller.stage / "bin" / "wardian-launch-test"),
    )
    process = caller.popen(
        [caller.python, "-I", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    output = process.communicate(timeout=30)[0]
    assert process.returncode == 0
    for word in ("file", "directory", "entered"):
        if word in found:
            assert word in output, output
        else:
            assert word not in output, output
    if not walls:
        assert "['0', '1', '2', '3']" in output  # and 3 is the listing's own


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_guest_is_nobody_on_the_host(caller: Caller, scene: Scene) -> None:
    """Seen from outside: an ordinary caller's guest keeps its id, a root caller's gets one that
    owns nothing; neither has a capability, or a way to gain one."""
    status = caller.run("cat /proc/self/status").text
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["NoNewPrivs"].strip() == "1"
    assert fields["Seccomp"].strip() == "2"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[kind], 16) == 0
    owned = caller.run("touch /work/f", work=scene["WORK"])
    assert owned.exit_code == 0
    assert os.stat(os.path.join(scene["WORK"], "f")).st_uid == caller.uid
    if caller.uid == 0:
        maps = caller.run("cat /proc/self/uid_map /proc/self/gid_map").text.split()
        assert "0" not in (maps[1], maps[4])


@rows(held_by_several(ATTACKS))
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)
