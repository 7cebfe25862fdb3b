"""16 watchers of files can be open at once, as development servers need."""

import ctypes
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_inotify_instances"


def exercise():
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(16):
        if libc.inotify_init1(0) < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
    return "16 watchers"


main(CAPABILITY, exercise)
