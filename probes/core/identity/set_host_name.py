"""The host name can be changed. Tried with a length that no kernel accepts."""

import ctypes
import errno
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "identity_set_host_name"


def exercise():
    if ctypes.CDLL(None, use_errno=True).sethostname(b"x", ctypes.c_size_t(1 << 20)) == 0:
        return "renamed"
    error = ctypes.get_errno()
    if error == errno.EINVAL:
        return "sethostname looked at the length: the right to rename was there"
    raise OSError(error, os.strerror(error))


main(CAPABILITY, exercise)
