"""Where memory lies in the machine can be read (/proc/self/pagemap)."""

import ctypes
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_physical_pages"


def exercise():
    page = ctypes.create_string_buffer(b"here")
    table = os.open("/proc/self/pagemap", os.O_RDONLY)
    entry = os.pread(table, 8, ctypes.addressof(page) // 4096 * 8)
    if not int.from_bytes(entry, "little") & ((1 << 55) - 1):
        raise Blocked("the frame is hidden")
    return "learned a page's frame"


main(CAPABILITY, exercise)
