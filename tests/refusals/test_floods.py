"""A guest that is refused more than anyone wants to know: the run ends as it would, the supervisor
stays small, the documents are whole, and it is said that there was more."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import launchers
from tests.refusals.wall import ARCH, PYTHON
from wardian import Result, Sandbox, syscalls
from wardian.cli.refused import refusal_lines

MOST_KB = 24 << 10  # of the supervisor; it has 4 MB when nothing happens
DISTINCT = 1 << 17
SAME = 100_000


def flood(sandbox: Sandbox, code: str) -> tuple[Result, int]:
    """What came of it, and the most memory that the supervisor had, in kB."""
    before = set(launchers())
    process = sandbox.start([PYTHON, "-I", "-S", "-c", code], timeout_s=240)
    (pid,) = set(launchers()) - before
    peak = 0
    while not process.ended:
        peak = max(peak, resident_kb(pid))
        try:
            process.wait(0.05)
        except TimeoutError:
            continue
    return process.wait(), peak


def resident_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line), 0)


def test_very_many_missing_names_are_forgotten_and_what_comes_after_is_told(
    sandbox: Sandbox,
) -> None:
    code = f"""
import os, socket
for n in range({DISTINCT}):
    os.access(f'/etc/no-such-name-{{n}}', 0)
os.access('/etc/' + 'x/' * 2040, 0)
try: socket.create_connection(('192.0.2.1', 9))
except OSError: pass
os.kill(os.getpid(), 0)
"""
    result, peak = flood(sandbox, code)
    assert result.reason == "exited"
    assert result.exit_code == 0, result.stderr
    assert [one.target for one in result.refusals if one.kind == "network"] == ["192.0.2.1:9"]
    assert not [one for one in result.refusals if "no-such-name" in one.target]
    assert result.refusals_dropped > 0
    assert peak < MOST_KB
    assert json.loads(json.dumps(result.document()))["refusals_dropped"] == result.refusals_dropped
    lines = refusal_lines(result._replace(exit_code=1), verbose=False)
    assert lines[-1] == f"  … and {result.refusals_dropped:,} more, not recorded"


def test_the_same_call_refused_over_and_over_is_one_refusal_with_a_count(sandbox: Sandbox) -> None:
    number = syscalls.number("ptrace", ARCH)
    code = f"""
import ctypes
call = ctypes.CDLL(None).syscall
for _ in range({SAME}):
    call({number}, 0, 0, 0, 0)
"""
    result, peak = flood(sandbox, code)
    assert (result.exit_code, result.refusals_dropped) == (0, 0)
    (one_refusal,) = [one for one in result.refusals if one.action == "ptrace"]
    assert one_refusal.count == SAME
    assert peak < MOST_KB


def test_garbage_for_pointers_and_lengths_is_survived(sandbox: Sandbox) -> None:
    names = [row.name for row in syscalls.rows() if "path" in row.arguments and row.number(ARCH)]
    names += ["connect", "bind", "sendto", "sendmsg", "sendmmsg", "pidfd_open"]
    left_out = {"execve", "execveat", "chdir", "umount2", "swapoff"}
    numbers = [syscalls.number(name, ARCH) for name in names if name not in left_out]
    code = f"""
import ctypes, random
random.seed(1)
call = ctypes.CDLL(None).syscall
room = ctypes.create_string_buffer(bytes(random.randrange(256) for _ in range(9000)), 9000)
at = ctypes.addressof(room)
some = [0, 1, 2, -1, -100, 4095, at, at + 1, at + 4090, at + 8999, 1 << 40, (1 << 64) - 8, 16, 110]
for number in {numbers}:
    if number is not None:
        for _ in range(60):
            call(number, *(ctypes.c_ulong(random.choice(some)) for _ in range(6)))
"""
    result, peak = flood(sandbox, code)
    assert result.exit_code == 0, (result.exit_code, result.stderr[-500:])
    json.dumps(result.document()).encode("ascii")
    assert peak < MOST_KB


def test_a_path_that_changes_while_it_is_looked_at_deceives_nobody_but_the_report(
    sandbox: Sandbox,
) -> None:
    code = """
import ctypes, os, threading, time
path = ctypes.create_string_buffer(b'/etc/passwd'.ljust(16, b'\\0'))
paths = [b'/etc/passwd', b'/etc/shadow', b'/root/.ssh', b'A' * 11]
stop = time.monotonic() + 1
end = stop + 30
def change():
    n = 0
    while time.monotonic() < stop or not read and time.monotonic() < end:
        n += 1
        ctypes.memmove(path, paths[n % 4], 11)
read = set()
threading.Thread(target=change).start()
libc = ctypes.CDLL(None)
while time.monotonic() < stop or not read and time.monotonic() < end:
    fd = libc.open(path, 0)
    if fd >= 0:
        read.add(os.read(fd, 4))
        os.close(fd)
print(read)
"""
    result = sandbox.run([PYTHON, "-I", "-S", "-c", code])
    assert result.exit_code == 0, result.stderr
    assert result.text.strip() == "{b'root'}"
    json.dumps(result.document()).encode("ascii")


@pytest.mark.parametrize("length", [4094, 4095, 4096, 5000])
def test_the_longest_paths(sandbox: Sandbox, length: int) -> None:
    path = "/srv".rjust(length // 2, "/").ljust(length, "/")
    code = f"import os, sys; p = {path!r}; assert len(p) == {length}; os.access(p, 0)"
    result = sandbox.run([PYTHON, "-I", "-S", "-c", code])
    assert result.exit_code == 0, result.stderr
    targets = [one.target for one in result.refusals if one.target.startswith("/srv")]
    assert targets == (["/srv"] if length < os.pathconf("/", "PC_PATH_MAX") else [])
