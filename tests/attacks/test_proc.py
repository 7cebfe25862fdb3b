"""Of the host's own details /proc shows what programs need, and nothing that a kernel adds."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.conftest import MakeSandbox
from wardian.sandbox.root.layout import layout

PYTHON = os.path.realpath(sys.executable)
LISTED = """
import json, os
found = {}
for name in os.listdir("/proc"):
    path = "/proc/" + name
    if name.isdecimal() or os.path.islink(path):
        continue
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(100)
        found[name] = "readable"
    except PermissionError:
        found[name] = "closed"
    except OSError as error:
        found[name] = type(error).__name__
print(json.dumps(found))
"""


def test_only_named_files_are_readable_at_the_top_of_proc(make_sandbox: MakeSandbox) -> None:
    result = make_sandbox().run([PYTHON, "-I", "-S", "-c", LISTED])
    found = json.loads(result.stdout)
    readable = {name for name, state in found.items() if state != "closed"}
    assert readable <= set(layout().proc), readable - set(layout().proc)
    assert {"cpuinfo", "meminfo", "stat", "uptime", "loadavg", "sys"} <= readable
    assert {"iomem", "ioports", "kallsyms", "cmdline"} & set(found) <= set(found) - readable


MASKED = (
    "iomem", "ioports", "fs", "partitions", "kallsyms", "keys", "key-users", "swaps", "tty/drivers",
)  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_can_t_be_opened_written_or_taken_away(name: str, make_sandbox: MakeSandbox) -> None:
    if not os.path.exists(f"/proc/{name}"):
        pytest.skip(f"this kernel has no /proc/{name}")
    tries = (
        f"cat /proc/{name} 2>/dev/null && exit 1; ls /proc/{name}/ 2>/dev/null && exit 2;"
        f" chmod 777 /proc/{name} 2>/dev/null && exit 3; umount /proc/{name} 2>/dev/null && exit 4;"
        f" cat /proc/self/root/proc/{name} 2>/dev/null && exit 5; head -1 /proc/meminfo"
    )
    result = make_sandbox().run(["sh", "-c", tries])
    assert (result.exit_code, result.text[:9]) == (0, "MemTotal:")
    assert f"/proc/{name}" in [one.target for one in result.refusals]


def test_programs_that_read_proc_work(make_sandbox: MakeSandbox) -> None:
    script = "ps -e >/dev/null && free >/dev/null && nproc >/dev/null && df / >/dev/null && uptime"
    assert make_sandbox().run(["sh", "-c", script]).exit_code == 0
