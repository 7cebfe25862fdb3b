"""Shared memory of the host's can be read (System V)."""

import ctypes
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "ipc_host_segment"


def exercise():
    number = int(witness("SHM"))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(number, None, 0o10000)  # SHM_RDONLY
    if address in (None, ctypes.c_void_p(-1).value):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    assert ctypes.string_at(address, 7) == b"wardian"
    return "read a segment of the host's"


main(CAPABILITY, exercise)
