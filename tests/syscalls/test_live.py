"""The running kernel takes the filter and decides a few calls as the simulator did."""

from __future__ import annotations

import errno
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import wardian

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="no syscall table for this machine"
)


def guest(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, Path(__file__).with_name("guest.py"), program],
        env={**os.environ, "PYTHONPATH": str(Path(wardian.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def outcomes(program: str) -> dict[str, int]:
    result = guest(program)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def test_refusals_have_their_errno_and_their_neighbours_work() -> None:
    seen = outcomes("errno")
    x32 = errno.EPERM if platform.machine() == "x86_64" else errno.ENOSYS
    assert seen == {
        "getpid": 0,
        "ptrace": errno.EPERM,
        "unknown": errno.ENOSYS,
        "openat2": errno.ENOSYS,
        "x32 getpid": x32,
        "socket unix": 0,
        "socket inet": 0,
        "socket vsock": errno.EAFNOSUPPORT,
        "socket raw": errno.EPERM,
        "socket mptcp": errno.EPROTONOSUPPORT,
        "chmod 0755": 0,
        "chmod 4755": errno.EPERM,
        "mkfifo": 0,
        "mknod null": errno.EPERM,
        "unshare user": errno.EPERM,
        "unshare files": 0,
        "tiocsti": errno.EPERM,
        "fork": 0,
    }


def test_a_supervisor_is_notified_and_answers_with_the_row_s_errno() -> None:
    assert outcomes("notify") == {
        "ptrace": errno.EPERM,
        "socket vsock": errno.EAFNOSUPPORT,
        "getpid": 0,
        "unknown": errno.ENOSYS,
    }


@pytest.mark.skipif(platform.machine() != "x86_64", reason="int 0x80 is an x86 instruction")
def test_the_32_bit_abi_is_refused() -> None:
    if guest("native").returncode == -signal.SIGSEGV:
        pytest.skip("this kernel has no 32-bit ABI")
    assert outcomes("native")["getpid"] > 0
    assert outcomes("foreign") == {"getpid": -errno.EPERM}
