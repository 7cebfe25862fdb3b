"""The kernel's settings can be changed (/proc/sys). None is."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_change_setting"


def exercise():
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return "opened core_pattern for writing and wrote nothing"


main(CAPABILITY, exercise)
