"""libseccomp, where it is installed, agrees about every name and number that it knows."""

from __future__ import annotations

import ctypes
import ctypes.util

import pytest

from wardian import syscalls

from .reference import AUDIT_ARCH
from .test_table import RECENT

UNKNOWN = -1  # __NR_SCMP_ERROR; below it are numbers libseccomp invents for calls that are missing


def _libseccomp() -> ctypes.CDLL:
    for name in ("libseccomp.so.2", ctypes.util.find_library("seccomp")):
        try:
            return ctypes.CDLL(name) if name else pytest.skip("libseccomp is not installed")
        except OSError:
            continue
    return pytest.skip("libseccomp is not installed")


@pytest.mark.parametrize("arch", AUDIT_ARCH)
def test_libseccomp_has_the_same_numbers(arch: str) -> None:
    resolve = _libseccomp().seccomp_syscall_resolve_name_arch
    resolve.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    strangers = set()
    for row in syscalls.rows():
        theirs = resolve(AUDIT_ARCH[arch], row.name.encode())
        if theirs == UNKNOWN:
            strangers.add(row.name)
        else:
            assert (row.name, row.number(arch)) == (row.name, theirs if theirs >= 0 else None)
    assert strangers <= {*RECENT, "uprobe", "uretprobe", "set_mempolicy_home_node"}


@pytest.mark.parametrize("arch", AUDIT_ARCH)
def test_libseccomp_has_the_same_names(arch: str) -> None:
    resolve = _libseccomp().seccomp_syscall_resolve_num_arch
    resolve.argtypes, resolve.restype = [ctypes.c_uint32, ctypes.c_int], ctypes.c_char_p
    for number in range(470):
        theirs = resolve(AUDIT_ARCH[arch], number)
        if theirs is not None:
            assert (number, syscalls.name_of(number, arch)) == (number, theirs.decode())
