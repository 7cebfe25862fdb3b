"""A process can read its own memory through /proc/self/mem."""

import ctypes
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_own_memory_file"


def exercise():
    secret = ctypes.create_string_buffer(b"find me")
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    assert os.pread(memory, 7, ctypes.addressof(secret)) == b"find me"
    return "read its own memory"


main(CAPABILITY, exercise)
