"""Limits strike, and the result names the one that did; a backend that can't hold one says so."""

from __future__ import annotations

import pytest

from tests.sandbox.conformance.conftest import LONGEST_S, PYTHON, Box

STRIKES: tuple[tuple[str, dict[str, float], str], ...] = (
    ("cpu", {"cpu_s": 1}, "while True: pass"),
    (
        "cpu",
        {"cpu_s": 1},
        "import os\nfor _ in range(3): os.fork()\nwhile True: pass",
    ),
    (
        "memory",
        {"memory_bytes": 150 << 20},
        "import time\nx = []\nfor _ in range(600): x.append(b'1' * (1 << 20)); time.sleep(0.002)\n"
        "time.sleep(20)",
    ),
    (
        "memory",
        {"memory_bytes": 150 << 20},
        "import mmap, time\nx = []\n"
        "for _ in range(600): m = mmap.mmap(-1, 1 << 20); m.write(b'1' * (1 << 20)); x.append(m); "
        "time.sleep(0.002)\ntime.sleep(20)",
    ),
    ("disk", {"disk_bytes": 1 << 20}, "open('f', 'wb').write(bytes(4 << 20))"),
)


@pytest.mark.parametrize(
    ("name", "limits", "program"),
    STRIKES,
    ids=["cpu", "cpu-of-all", "memory", "memory-shared", "disk"],
)
def test_a_limit_strikes_and_is_named(
    name: str, limits: dict[str, float], program: str, box: Box
) -> None:
    if not box.holds(name):
        assert box.is_host
        pytest.skip(f"{box.name} holds no limit of {name}, and says so")
    result = box.limited(**limits).run([PYTHON, "-c", program], timeout_s=LONGEST_S)
    if name == "disk" and result.reason == "exited":
        assert b"File too large" in result.stderr  # Python ignores SIGXFSZ
        return
    assert result.reason == f"{name} limit", (result.reason, result.stderr[-300:])
    assert [limit.name for limit in result.limits if limit.struck] == [name]


def test_private_files_fill_up_and_end_there(box: Box) -> None:
    if not box.holds("disk"):
        pytest.skip(f"{box.name} holds no limit of disk, and says so")
    script = "head -c 8000000 /dev/zero > $TMPDIR/f; wc -c < $TMPDIR/f"
    result = box.limited(disk_bytes=2 << 20).run(["sh", "-c", script], timeout_s=LONGEST_S)
    assert result.reason == "disk limit" or int(result.text.split()[-1]) <= 2 << 20


def test_shared_places_may_grow_by_so_much(box: Box) -> None:
    if not box.holds("disk"):
        pytest.skip(f"{box.name} holds no limit of disk, and says so")
    program = (
        "import time\n"
        "for i in range(60):\n"
        "    open(str(i), 'wb').write(bytes(1 << 20)); time.sleep(0.05)\n"
        "time.sleep(20)"
    )
    sandbox = box.limited(disk_bytes=16 << 20)
    result = sandbox.run([PYTHON, "-c", program], timeout_s=LONGEST_S)
    assert result.reason == "disk limit", result.reason
    assert len(sandbox.files.list()) < 60


def test_processes_are_counted(box: Box) -> None:
    program = (
        "import os, time\nn = 0\n"
        "try:\n"
        "    while n < 200:\n"
        "        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
        "        n += 1\n"
        "except BlockingIOError: pass\n"
        "print(n)"
    )
    result = box.limited(processes=20).run([PYTHON, "-c", program], timeout_s=LONGEST_S)
    if box.stands("limits.processes"):
        assert 10 <= int(result.text) <= 22, result
    else:
        assert int(result.text) == 200


def test_open_files_are_counted(box: Box) -> None:
    if not box.holds("files"):
        pytest.skip(f"{box.name} holds no limit of files, and says so")
    program = (
        "import os\nn = 0\n"
        "try:\n"
        "    while n < 500: os.dup(0); n += 1\n"
        "except OSError as error: print(n, error.errno)"
    )
    result = box.limited(files=32).run([PYTHON, "-c", program])
    assert result.text.endswith(" 24\n")
    assert 20 < int(result.text.split()[0]) < 32


def test_few_open_files_do_not_keep_a_sandbox_from_being_set_up(box: Box) -> None:
    assert box.limited(files=8).run(["sh", "-c", "echo here"]).text == "here\n"


def test_limits_have_the_policy_s_values_and_a_mechanism(box: Box) -> None:
    limits = box.policy().limits
    values = {
        "time": limits.time_s,
        "cpu": limits.cpu_s,
        "memory": limits.memory_bytes,
        "processes": limits.processes,
        "files": limits.files,
        "disk": limits.disk_bytes,
        "output": limits.output_bytes,
    }
    for limit in box.said.limits:
        assert limit.value == values[limit.name]
        assert limit.mechanism
        assert not limit.struck
    if not box.is_host:
        assert {limit.name for limit in box.said.limits} == set(values)
