"""The kernel's command line can be read, which reveals host details."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_command_line"


def exercise():
    with open("/proc/cmdline") as file:
        if not file.read().strip():
            raise Blocked("/proc/cmdline is empty")
    return "read /proc/cmdline"


main(CAPABILITY, exercise)
