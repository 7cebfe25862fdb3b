"""The kernel's debugging files can be listed (/sys/kernel/debug)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_debug_files"


def exercise():
    if not os.listdir("/sys/kernel/debug"):
        raise Blocked("nothing is mounted there", "ENOENT")
    return "listed /sys/kernel/debug"


main(CAPABILITY, exercise)
