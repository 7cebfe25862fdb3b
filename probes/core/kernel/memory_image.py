"""The kernel's memory can be opened (/proc/kcore)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_memory_image"


def exercise():
    image = os.open("/proc/kcore", os.O_RDONLY)
    if os.read(image, 4) != b"\x7fELF":
        raise Blocked("/proc/kcore is covered")
    return "opened /proc/kcore"


main(CAPABILITY, exercise)
