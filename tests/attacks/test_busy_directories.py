"""A directory in which a guest makes and removes many files is looked at more cheaply; it can't be
used to keep a later refusal out of the report."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wardian import Policy, Sandbox, Share

PYTHON = os.path.realpath(sys.executable)
BUSY = """
import os, time
time.sleep(0.05)
os.mkdir('/tmp/d')
os.symlink('/shared', '/tmp/link')
time.sleep(0.05)
for n in range(200):
    os.close(os.open(f'/tmp/d/{n}', os.O_CREAT | os.O_WRONLY))
    os.unlink(f'/tmp/d/{n}')
def attempt(act, *words):
    try:
        act(*words)
    except OSError as error:
        return error.errno
"""
# How the busy directory becomes one that may not be written to.
SWAPS = {
    "renamed": "os.rename('/tmp/d', '/tmp/e'); os.symlink('/shared', '/tmp/d')",
    "removed": "os.rmdir('/tmp/d'); os.symlink('/shared', '/tmp/d')",
    "exchanged": (
        "import ctypes; libc = ctypes.CDLL(None); "
        "assert libc.renameat2(-100, b'/tmp/link', -100, b'/tmp/d', 2) == 0"
    ),
    "replaced": "os.rmdir('/tmp/d'); os.rename('/tmp/link', '/tmp/d')",
}
WAYS = {
    "make": "assert attempt(os.open, '/tmp/d/new', os.O_CREAT | os.O_WRONLY) == 30",
    "change": "assert attempt(os.open, '/tmp/d/old', os.O_WRONLY) == 30",
    "remove": "assert attempt(os.unlink, '/tmp/d/old') == 30",
    "directory": "assert attempt(os.mkdir, '/tmp/d/sub') == 30",
}


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    (tmp_path / "old").write_text("x")
    tmp_path.chmod(0o755)
    return Policy.default().with_shares([Share(str(tmp_path), "/shared")])


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("way", WAYS)
def test_a_busy_directory_that_became_another_is_looked_at_again(
    swap: str, way: str, policy: Policy
) -> None:
    code = f"{BUSY}\n{SWAPS[swap]}\n{WAYS[way]}\n"
    with Sandbox.create(policy) as sandbox:
        result = sandbox.run([PYTHON, "-I", "-S", "-c", code])
    assert result.exit_code == 0, result.stderr
    assert [one for one in result.refusals if one.target.startswith("/tmp/d/")], result.refusals


def test_what_is_made_and_removed_there_is_no_refusal(policy: Policy) -> None:
    with Sandbox.create(policy) as sandbox:
        result = sandbox.run([PYTHON, "-I", "-S", "-c", BUSY])
    assert result.exit_code == 0, result.stderr
    assert not [one for one in result.refusals if one.target.startswith("/tmp")]


def test_a_file_of_the_host_that_is_missed_there_is_reported(tmp_path: Path) -> None:
    """By its name below /tmp, where the host has it and the guest does not."""
    (tmp_path / "here").write_text("x")
    busy = BUSY.replace("os.mkdir", "os.makedirs").replace("/tmp/d", str(tmp_path))
    with Sandbox.create() as sandbox:
        missing = f"{busy}\nassert attempt(os.unlink, {str(tmp_path / 'here')!r}) == 2\n"
        result = sandbox.run([PYTHON, "-I", "-S", "-c", missing])
    assert result.exit_code == 0, result.stderr
    assert str(tmp_path / "here") in [one.target for one in result.refusals]
