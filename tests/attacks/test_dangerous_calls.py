"""Calls on another process's memory, and the old way to rearrange one's own, are refused."""

from __future__ import annotations

import os
import sys

import pytest

from tests.conftest import MakeSandbox
from wardian import syscalls

PYTHON = os.path.realpath(sys.executable)
ARCH = os.uname().machine
TRY = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = int(sys.argv[1])
pidfd = os.pidfd_open(os.getpid())
for first in (pidfd, -1, 0):
    if libc.syscall(number, first, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1:
        sys.exit(f"{first}: errno {ctypes.get_errno()}")
page = libc.mmap
page.restype = ctypes.c_void_p
at = page(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0))
assert libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(8192), 4) == 0  # MADV_DONTNEED of its own
"""


@pytest.mark.parametrize("name", ["process_madvise", "process_mrelease", "remap_file_pages"])
def test_it_is_refused_and_told_while_madvise_works(name: str, make_sandbox: MakeSandbox) -> None:
    number = str(syscalls.number(name, ARCH))
    result = make_sandbox().run([PYTHON, "-I", "-S", "-c", TRY, number])
    assert result.exit_code == 0, result.stderr
    assert any(one.target.startswith(f"{name}(") for one in result.refusals)


def test_300_calls_stay_supported() -> None:
    assert sum(row.kind in ("allow", "when") for row in syscalls.rows()) >= 300
