"""What one fresh start asks of the kernel: the number of its system calls and mounts may only fall.

Whoever makes a start cheaper lowers the numbers here; a change that raises one needs a reason that
is worth the time of every run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from wardian.sandbox.host import this_host
from wardian.sandbox.root.layout import layout


class Most(NamedTuple):
    """Of the launcher's processes: the supervisor until it waits for the first time, the reaper,
    and the guest until it becomes its program."""

    calls: int
    mounts: int


# Apart from the files that this kernel has in /proc and that are masked, and from control groups.
WITH_FUSE, WITHOUT_FUSE = Most(calls=573, mounts=26), Most(calls=486, mounts=14)
CALLS_PER_FILE_OF_PROC = 2  # it is looked at, and masked by a mount
MOUNTING = ("mount", "move_mount", "pivot_root", "umount2")

PROGRAM = """
from wardian import Policy, Sandbox
for _ in range(2):  # the first one prepares what all share; a second run would wait in a spare
    with Sandbox.create(Policy.default().but(base=("/usr",)), fresh=True) as sandbox:
        assert sandbox.run(["/bin/true"]).exit_code == 0
"""


def calls_of_the_last_start(trace: str) -> list[str]:
    """Their names."""
    starts = list(re.finditer(r'(?m)^(\d+) +execve\(".*/wardian-launch"', trace))
    supervisor = starts[-1][1]
    others = set(re.findall(r"(?m)^(\d+) ", trace[: starts[-1].start()])) - {supervisor}
    names = []
    for pid, name in re.findall(r"(?m)^(\d+) +(\w+)\(", trace[starts[-1].end() :]):
        if pid in others:
            continue
        if name == "execve" or (name == "ppoll" and pid == supervisor):
            others.add(pid)  # how often it waits and looks at the clock is a matter of time
        names.append(name)
    return names


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    out = tmp_path_factory.mktemp("start") / "trace"
    command = ["strace", "-f", "-o", str(out), sys.executable, "-c", PROGRAM]
    subprocess.run(
        command,
        env={**os.environ, "WARDIAN_CGROUP": "off", "PATH": os.defpath},
        check=True,
        timeout=120,
    )
    return calls_of_the_last_start(out.read_text(encoding="latin-1"))


def masked_files() -> int:
    """Files at the top of this kernel's /proc that the guest does not see."""
    kept = layout().proc
    return sum(
        not (name[0].isdigit() or name in kept or Path("/proc", name).is_symlink())
        for name in os.listdir("/proc")
    )


def most() -> Most:
    return WITH_FUSE if this_host().fuse else WITHOUT_FUSE


def test_a_start_makes_no_more_system_calls_than_it_did(calls: list[str]) -> None:
    own = len(calls) - CALLS_PER_FILE_OF_PROC * masked_files()
    assert own <= most().calls, f"{own} system calls besides masking /proc; see above"


def test_a_start_makes_no_more_mounts_than_it_did(calls: list[str]) -> None:
    own = sum(name in MOUNTING for name in calls) - masked_files()
    assert own <= most().mounts, f"{own} mounts besides masking /proc; see above"
