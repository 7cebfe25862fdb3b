"""The table has what the running kernel and the C library's headers have."""

from __future__ import annotations

import ctypes
import errno
import os
import re
from pathlib import Path

import pytest

from wardian import syscalls
from wardian.syscalls.table import canonical_arch

from .kernel import traced, typed

LAST = (6, 18)  # the kernel that the table was made from
BEYOND = range(470, 512)
HEADERS = {
    "x86_64": "x86_64-linux-gnu/asm/unistd_64.h",
    "arm64": "asm-generic/unistd.h",
}
# Functions behind calls that 32-bit programs or other architectures make, and the one for none.
FOREIGN = re.compile(
    r".*(16|32|_time32|64_64)|(old|old_|compat_|ia32_|x32_|arm64_|s390_|riscv_).*|f?statfs64|"
    r"(f|l|)stat64|fstatat64|f?truncate64|fcntl64|gethostname|ni_syscall|sgetmask|signal|"
    r"sig(procmask|pending|suspend|action|return)|ssetmask|nice|stime|waitpid|llseek|ipc|bdflush|"
    r"socketcall|recv|send|vm86(old)?|mmap_pgoff"
)


def kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int(re.match(r"\d+", minor)[0])  # type: ignore[index]


def needs_a_kernel_of_the_table() -> None:
    if kernel() > LAST:
        pytest.skip(f"this kernel is newer than {'.'.join(map(str, LAST))}")


def test_every_call_that_this_kernel_names_has_a_row() -> None:
    needs_a_kernel_of_the_table()
    names = {*traced(), *typed()}
    if not names:
        pytest.skip("this kernel does not list its system calls")
    strangers = {n for n in names if syscalls.table.find(n) is None and not FOREIGN.fullmatch(n)}
    assert strangers == set()


def test_this_kernel_has_no_number_beyond_the_table() -> None:
    needs_a_kernel_of_the_table()
    call = ctypes.CDLL(None, use_errno=True).syscall
    arch = canonical_arch(os.uname().machine)
    for number in BEYOND:
        assert syscalls.name_of(number, arch) is None
        assert call(number, -1, -1, -1, -1, -1, -1) == -1
        assert ctypes.get_errno() == errno.ENOSYS


@pytest.mark.parametrize("arch", HEADERS)
def test_headers_have_the_same_numbers(arch: str) -> None:
    path = Path("/usr/include") / HEADERS[arch]
    if not path.exists():
        pytest.skip(f"{path.name} of {arch} is not installed")
    text = path.read_text()
    found = {
        name: int(number)
        for name, number in re.findall(r"#define __NR_(?:3264_)?(\w+)\s+(\d+)", text)
        if name not in ("syscalls", "arch_specific_syscall")
    }
    assert len(found) > 300
    same = {"fstatat": "newfstatat"}  # asm-generic names the 64-bit call by its 32-bit kin
    for name, number in found.items():
        row = syscalls.table.find(same.get(name, name))
        if row is None or row.number(arch) is None:
            assert arch == "arm64", (name, number)  # calls that asm-generic has for others
            continue
        assert (name, row.number(arch)) == (name, number)
