"""Floods: nothing outgrows its limit, whatever it floods with; and what it could not have is the
guest's trouble, not the host's."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.attack import Attack, py, rows
from tests.attacks.callers import NAMES, Caller, Outcome

MB = 1 << 20
# Small, so that a flood meets it at once; the floods stop by themselves at FLOOD_MB.
MEMORY_MB, FLOOD_MB = 100, 400
ROOM = {"limits": {"memory_bytes": MEMORY_MB * MB, "disk_bytes": 1000 * MB, "processes": 200}}
HOLD_S = "10"  # long enough for a watch on a busy machine; without one it would be held
SMALL = ["/programs/memory", "private", "20"]


def memory(kind: str, *walls: str, megabytes: int = FLOOD_MB) -> Attack:
    return Attack(kind, ["/programs/memory", kind, str(megabytes)], "held", walls, options=ROOM)


# The supervisor's watch holds them all; where the caller may make a control group, that does first.
MEMORY = [
    memory("private", "watch", "rlimits"),
    memory("shared", "watch"),
    memory("memfd", "watch"),
    memory("thread-memfd", "watch"),
    memory("leaderless", "watch", "rlimits"),
    memory("segment", "watch"),
    memory("segments", "watch"),
    memory("semaphores", "watch", "sysctl"),
    memory("messages", "watch", "sysctl"),
    memory("processes", "watch"),
    memory("copies", "watch"),
    # Not here: buffers of pipes and sockets, and memory files in flight. The supervisor judges them
    # by what the host has lost, which neighbours move too; docs/boundary.md says so.
    memory("page-tables", "watch"),
    # Mapped and unmapped shared memory overlap by an unknown amount, so the larger one counts:
    # of two kinds at once, a guest can hold up to twice the limit, and no more.
    memory("two-kinds", "watch", megabytes=3 * MEMORY_MB),
]
# Held by the size of the tmpfs, which can't be left out: a larger limit lets it through instead.
IN_MEMORY_FILES = [memory("tmp"), memory("dev-shm")]


@rows(MEMORY)
@pytest.mark.usefixtures("alone")
def test_memory_does_not_outgrow_its_limit(attack: Attack, caller: Caller) -> None:
    """It is ended, at the latest while it holds it."""
    outcome = caller.run([*attack.command, HOLD_S], **attack.options)
    assert outcome.reason == "memory limit", outcome
    assert "held" in caller.run(SMALL, **attack.options).stdout


@rows(IN_MEMORY_FILES)
@pytest.mark.usefixtures("alone")
def test_files_in_memory_do_not_outgrow_its_limit(attack: Attack, caller: Caller) -> None:
    """A write is refused; if other memory comes to the limit before it, the guest is ended."""
    outcome = caller.run([*attack.command, HOLD_S], **attack.options)
    assert attack.harm not in outcome.stdout, outcome
    assert outcome.reason == "memory limit" or outcome.stderr.startswith("write: "), outcome
    assert "held" in caller.run(SMALL, **attack.options).stdout


@pytest.mark.long
@rows(MEMORY)
@pytest.mark.usefixtures("alone")
def test_memory_outgrows_its_limit_without_the_watch(attack: Attack, caller: Caller) -> None:
    outcome = caller.run(attack.command, without=attack.without(caller), **attack.options)
    assert "held" in outcome.stdout, outcome
    assert outcome.reason == "exited", outcome


@pytest.mark.long
@rows(IN_MEMORY_FILES)
@pytest.mark.usefixtures("alone")
def test_private_files_fill_with_a_larger_limit(attack: Attack, caller: Caller) -> None:
    roomy = {"limits": {"memory_bytes": 1000 * MB, "disk_bytes": 1000 * MB}}
    assert "held" in caller.run(attack.command, **roomy).stdout


NOISE = """
import sys, time
held = b'x' * ({megabytes} << 20)
print('ready', flush=True)
sys.stdin.readline()
del held
print('freed', flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", ["memfd", "segments", "page-tables"])
@pytest.mark.usefixtures("alone")
def test_memory_is_seen_while_a_neighbour_frees_some(caller: Caller, kind: str) -> None:
    """The host's free memory is everybody's: it can grow while a guest takes too much."""
    neighbour = caller.popen(
        [caller.python, "-I", "-c", NOISE.format(megabytes=FLOOD_MB + 200)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert neighbour.stdin is not None
    assert neighbour.stdout is not None
    assert neighbour.stdout.readline() == "ready\n"
    timer = threading.Timer(0.1, lambda: neighbour.communicate("\n"))
    timer.start()
    flood = f"sleep 0.5; exec /programs/memory {kind} {FLOOD_MB} {HOLD_S}"
    outcome = caller.run(flood, **ROOM)
    timer.join()
    assert outcome.reason == "memory limit" or "held" not in outcome.stdout, outcome


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_the_disk_is_watched_while_a_neighbour_deletes_and_writes(caller: Caller) -> None:
    """What others do on the same filesystem neither hides a flood nor ends an innocent run."""
    other = caller.directory() / "other"
    limits = {"disk_bytes": DISK_MB * MB}
    other.write_bytes(b"x" * (200 * MB))
    threading.Timer(0.15, other.unlink).start()
    work = caller.directory()
    outcome = caller.run("sleep 0.4; /programs/flood files 1000", work=str(work), limits=limits)
    assert "all" not in outcome.stdout, outcome
    writer = threading.Timer(0.15, lambda: other.write_bytes(b"x" * (100 * MB)))
    writer.start()
    innocent = caller.run("sleep 0.6; echo fine", work=str(caller.directory()), limits=limits)
    writer.join()
    other.unlink()
    assert "fine" in innocent.stdout, innocent


COUNT = {"limits": {"processes": 40, "files": 64}}


def flood(kind: str, wanted: int, most: int, *walls: str, name: str = "") -> Attack:
    command = ["/programs/flood", kind, str(wanted), "0.2"]
    return Attack(name or kind, command, str(most), walls, options=COUNT)


def made(text: str) -> int:
    words = text.split()
    return int(words[0]) if words and words[0].isdigit() else 0


COUNTED = [
    flood("processes", 300, 40, "rlimits"),
    flood("threads", 300, 40, "rlimits"),
    flood("zombies", 300, 40, "rlimits"),
    flood("descriptors", 500, 64, "rlimits"),
    flood("signals", 6000, 4096, "rlimits"),
    flood("instances", 100, 64, "sysctl", "rlimits"),
    flood("watches", 20000, 16384, "sysctl"),
]


@rows(COUNTED)
def test_nothing_is_made_beyond_its_count(attack: Attack, caller: Caller) -> None:
    outcome = caller.run(attack.command, **attack.options)
    assert 5 <= made(outcome.stdout) <= int(attack.harm), outcome


@pytest.mark.long
@rows(COUNTED)
def test_more_is_made_without_the_wall(attack: Attack, caller: Caller) -> None:
    """What is the host's own allowance, a test at the same time may have taken a part of."""
    for _ in range(5):
        outcome = caller.run(attack.command, without=attack.walls, **attack.options)
        if made(outcome.stdout) > int(attack.harm):
            return
        time.sleep(1)
    pytest.fail(str(outcome))


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_terminals_of_the_guest_are_few_and_its_own(caller: Caller) -> None:
    """Its devpts has a size of its own, so that the host's allowance stays."""
    outcome = caller.run(["/programs/flood", "terminals", "200", "0"])
    assert 8 <= made(outcome.stdout) <= 64, outcome


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_private_files_are_counted_too(caller: Caller) -> None:
    outcome = caller.run("cd /tmp && /programs/flood inodes 260000", limits={"time_s": 60})
    assert 10_000 <= made(outcome.stdout) <= 200_000, outcome


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_sandbox_can_be_closed_after_a_very_deep_directory(caller: Caller) -> None:
    before = set(os.listdir(caller.stage / "tmp"))
    outcome = caller.run(["/programs/flood", "directories", "4000"])
    assert made(outcome.stdout) >= 1000, outcome
    assert set(os.listdir(caller.stage / "tmp")) <= before


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize(
    "mess",
    [
        "mkdir -p a/b/c; touch a/b/f; chmod 0 a/b/c a/b a .",
        "for i in 1 2 3 4 5; do mkdir -p .wardian-$i/x/y; done; mkdir -p a/b/c/d",
        "mkfifo f; ln -s f g; ln -s /etc h; mkdir d; ln -s ../.. d/up",
        "touch -- -rf '--' \"$(printf 'a\\nb\\033[2J')\"; mkdir -- -x",
    ],
    ids=["closed-directories", "names-of-ours", "links-and-pipes", "odd-names"],
)
def test_a_sandbox_can_be_closed_whatever_the_guest_left(caller: Caller, mess: str) -> None:
    before = set(os.listdir(caller.stage / "tmp"))
    outcome = caller.run(mess)
    assert "error" not in outcome.answer, outcome
    assert set(os.listdir(caller.stage / "tmp")) <= before


DISK_MB = 20
# The flood, how much of it is too much even for a busy machine, and which walls hold it.
DISK: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "files": ("files", 600, ("watch",)),
    "one-file": ("one", 600, ("watch", "rlimits")),
    "unlinked": ("unlinked", 350, ("watch",)),
    "allocations": ("allocations", 150, ("watch", "seccomp")),  # of 4 MB; refused when too much
}
MANY_FILES = 20_000
SLACK_MB = 280  # what is written between two looks at the disk


def on_disk(directory: Path) -> int:
    """Megabytes in the files of a directory."""
    return sum(entry.lstat().st_blocks * 512 for entry in directory.iterdir()) // MB


def fill(caller: Caller, kind: str, count: int, *without: str) -> tuple[Any, int]:
    work = caller.directory()
    limits = {"disk_bytes": DISK_MB * MB, "files": 400}
    try:
        command = ["/programs/flood", DISK[kind][0], str(count)]
        return caller.run(command, work=str(work), without=without, limits=limits), on_disk(work)
    finally:
        shutil.rmtree(work)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", DISK)
@pytest.mark.usefixtures("alone")
def test_a_shared_directory_does_not_outgrow_the_disk_limit(caller: Caller, kind: str) -> None:
    outcome, megabytes = fill(caller, kind, DISK[kind][1])
    assert "all" not in outcome.stdout, outcome
    assert megabytes <= DISK_MB + SLACK_MB


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", DISK)
@pytest.mark.usefixtures("alone")
def test_a_shared_directory_outgrows_the_disk_limit_without_the_watch(
    caller: Caller, kind: str
) -> None:
    outcome, megabytes = fill(caller, kind, 40, *DISK[kind][2])
    assert "all" in outcome.stdout, outcome
    assert megabytes > DISK_MB or kind == "unlinked"


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("walls", [(), ("watch",)], ids=["all-walls", "without-watch"])
@pytest.mark.usefixtures("alone")
def test_a_shared_directory_does_not_fill_with_empty_files(
    caller: Caller, walls: tuple[str, ...]
) -> None:
    """They take no bytes, but a filesystem has only so many. The guest may make 200,000 by default;
    fewer here, for speed."""
    hold_s = "0.2" if walls else HOLD_S
    outcome = flood_with_empty_files(caller, MANY_FILES, MANY_FILES // 4, hold_s, without=walls)
    if walls:
        assert "all" in outcome.stdout, outcome
    else:
        assert outcome.reason == "disk limit", outcome


def flood_with_empty_files(
    caller: Caller, many: int, most: int, hold_s: str, *, without: tuple[str, ...] = ()
) -> Outcome:
    """A guest makes so many in a share, where ``most`` are allowed."""
    work = caller.directory()
    try:
        command = ["/programs/flood", "inodes", str(many), hold_s]
        limit = [("root", 1 << 30, most)]
        return caller.run(command, work=str(work), without=without, records=limit)
    finally:
        shutil.rmtree(work)


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_more_empty_files_than_a_short_look_can_see_are_seen(caller: Caller) -> None:
    outcome = flood_with_empty_files(caller, 80_000, 40_000, "60")
    assert outcome.reason == "disk limit", outcome


@pytest.mark.long
@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.usefixtures("alone")
def test_a_neighbour_that_removes_files_hides_none(caller: Caller) -> None:
    """The filesystem as a whole has no more of them than before."""
    other = caller.directory()
    for number in range(MANY_FILES):
        (other / str(number)).touch()

    def remove() -> None:
        for number in range(MANY_FILES):
            (other / str(number)).unlink()
            time.sleep(0.0001)

    neighbour = threading.Thread(target=remove)
    try:
        neighbour.start()
        outcome = flood_with_empty_files(caller, MANY_FILES // 2, MANY_FILES // 4, HOLD_S)
        assert outcome.reason == "disk limit", outcome
    finally:
        neighbour.join()
        shutil.rmtree(other)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_file_can_not_seem_larger_than_the_disk_limit(caller: Caller) -> None:
    """A sparse file takes no room, but fills the disk of whoever copies it."""
    limits = {"disk_bytes": DISK_MB * MB}
    work = str(caller.directory())
    gaps = ["/programs/flood", "gaps", "1"]
    assert made(caller.run(gaps, work=work, limits=limits).stdout) == 0
    assert made(caller.run(gaps, work=work, limits=limits, without=("rlimits",)).stdout) == 1


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_private_disk_is_limited(caller: Caller) -> None:
    fill_tmp = "cd /tmp && /programs/flood files 60"
    outcome = caller.run(fill_tmp, limits={"disk_bytes": DISK_MB * MB})
    assert DISK_MB // 2 <= made(outcome.stdout) <= DISK_MB, outcome
    assert made(caller.run(fill_tmp, limits={"disk_bytes": 200 * MB}).stdout) == 60


OUTPUT: Mapping[str, str] = {
    "lines": "yes | head -c 1073741824",
    "one-endless-line": "head -c 1073741824 /dev/zero | tr '\\0' x",
    "standard-error": "yes 1>&2 | head -c 1 ; yes 1>&2 & head -c 100000000 /dev/zero; wait",
    "from-the-background": "(setsid sh -c 'yes' &) ; sleep 100",
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("kind", OUTPUT)
def test_output_does_not_outgrow_its_limit_nor_the_supervisor(caller: Caller, kind: str) -> None:
    """The limit is where the flood ends; with a larger one the same command gets further."""
    outcome = caller.run(OUTPUT[kind], limits={"output_bytes": MB, "time_s": 60})
    assert outcome.reason == "output limit", outcome.reason
    assert outcome.truncated
    assert outcome.output_bytes <= MB
    assert outcome.launcher_kb <= 16 * 1024
    more = caller.run(OUTPUT[kind], limits={"output_bytes": 3 * MB, "time_s": 60})
    assert MB < more.output_bytes <= 3 * MB


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_refusals_by_the_thousand_cost_the_supervisor_nothing(caller: Caller) -> None:
    """Each refused call is answered; the list of them is bounded, and so is the time."""
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
        "for i in range(20000): libc.syscall(101, i, i, i, i)\nprint('fine')"
    )
    outcome = caller.run(py(code))
    assert "fine" in outcome.stdout
    assert len(outcome.refused) <= 1024
    assert outcome.launcher_kb <= 16 * 1024


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_hosts_own_allowances_are_left_to_it(caller: Caller) -> None:
    """While a guest holds all it can get of inotify, pipes and terminals, its caller still can."""
    held = (
        "(/programs/flood instances 500 2 &); (/programs/flood terminals 500 2 &); "
        "(/programs/flood descriptors 900 2 &); sleep 0.5; echo fine; sleep 1"
    )
    check = "import os, pty, ctypes; assert ctypes.CDLL(None).inotify_init() >= 0; pty.openpty()"
    probe = caller.popen(
        [caller.python, "-I", "-c", f"import time\ntime.sleep(0.7)\n{check}"], stdout=-3
    )
    assert "fine" in caller.run(held).stdout
    assert probe.wait(timeout=20) == 0
