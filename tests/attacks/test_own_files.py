"""Of /proc a guest may write the names of its threads and its processes' oom_score_adj: nothing
else, nobody else's, and no score below the one that it began with."""

from __future__ import annotations

import subprocess

import pytest

from tests.attacks.attack import Attack, assert_contained, assert_harmful, py, rows
from tests.attacks.callers import LIBRARY, NAMES, Caller
from tests.attacks.conftest import Scene

NAMED = py("open('/proc/self/comm', 'w').write('other'); print('fine')")
OTHERS = (
    "mem", "uid_map", "gid_map", "setgroups", "coredump_filter", "clear_refs", "oom_adj",
    "comm/../mem", "task/@/../../mem", "fd/../mem", "attr/current",
)  # fmt: skip
# Natively each of these can be opened for writing by its owner, if by nobody else.
OPENING = (
    "import os\nown = str(os.getpid())\nfor name in {names!r}:\n"
    "    for top in 'self', 'thread-self', own, 'self/task/' + own, '../proc/self':\n"
    "        try: os.open('/proc/' + top + '/' + name.replace('@', own), os.O_WRONLY)\n"
    "        except OSError: continue\n"
    "        print('opened', name)"
)
# The path changes while the supervisor looks at it.
SWAPPED = (
    "import ctypes, os, threading, time\n"
    "path = ctypes.create_string_buffer(32); own, other = b'/proc/self/comm', b'/proc/self/mem'\n"
    "end = time.monotonic() + 1; call = ctypes.CDLL(None).open\n"
    "def swap():\n"
    "    while time.monotonic() < end: path.value = own; path.value = other\n"
    "threading.Thread(target=swap).start(); named = 0\n"
    "while time.monotonic() < end:\n"
    "    fd = call(path, os.O_RDWR)\n"
    "    if fd < 0: continue\n"
    "    where = os.readlink('/proc/self/fd/%d' % fd); os.close(fd)\n"
    "    named += where.endswith('/comm')\n"
    "    if where.endswith('/mem'): print('reached'); break\n"
    "print(named > 0)"
)
WALLS = ("readonly", "landlock")
ATTACKS = [
    Attack("other-files", py(OPENING.format(names=OTHERS)), "opened", WALLS, NAMED),
    Attack("a-path-that-changes", py(SWAPPED), "reached", WALLS, NAMED),
    Attack(
        "score-of-the-reaper",
        py("open('/proc/1/oom_score_adj', 'w').write('1000'); print('written')"),
        "written",
        (*WALLS, "dumpable"),
        NAMED,
    ),
]


@rows(ATTACKS)
def test_nothing_else_of_proc_can_be_written(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(ATTACKS)
def test_it_could_be_without_the_walls(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_harmful(attack, caller, scene)


# One who may go back to a lower score, as after raising it without a right: that is inherited.
FROM_OUTSIDE = """
import ctypes, struct, sys
sys.path.insert(0, sys.argv[1])
from wardian import Sandbox
libc, by = ctypes.CDLL(None), int(sys.argv[2])
head, held = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
libc.capget(head, held)
first, *rest = struct.unpack("6I", held.raw)
libc.capset(head, struct.pack("6I", first & ~(1 << 24), *rest))
if by:
    score = int(open("/proc/self/oom_score_adj").read())
    open("/proc/self/oom_score_adj", "w").write(str(score + by))
libc.capset(head, held)
print(Sandbox().run(["python3", "-I", "-S", "-c", sys.argv[3]]).text)
"""
INSIDE = """
import os
first = int(open("/proc/self/oom_score_adj").read())
def write(score, pid="self"):
    try:
        with open(f"/proc/{pid}/oom_score_adj", "w") as file: file.write(str(score))
    except OSError: return "refused"
    return int(open(f"/proc/{pid}/oom_score_adj").read()) - first
child = os.fork()
if not child: os.read(os.pipe()[0], 1)
print(write(first + 9), write(first), write(first - 1), write(first - 300), write(first + 3, child))
os.kill(child, 9)
"""


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize(
    ("raised", "shown"), [(0, "9 0 refused refused 3"), (300, " ".join(["refused"] * 5))]
)
def test_no_score_goes_below_the_first(raised: int, shown: str, caller: Caller) -> None:
    words = [str(caller.stage / LIBRARY), str(raised), INSIDE]
    with caller.popen(
        [caller.python, "-I", "-c", FROM_OUTSIDE, *words], stdout=subprocess.PIPE, text=True
    ) as outside:
        assert outside.communicate(timeout=30)[0].strip() == shown
