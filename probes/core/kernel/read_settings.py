"""The kernel's settings can be read, as programs do to know limits (/proc/sys)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_read_settings"


def exercise():
    with open("/proc/sys/kernel/pid_max") as file:
        assert int(file.read()) > 0
    with open("/proc/sys/fs/file-max") as file:
        assert int(file.read()) > 0
    return "read pid_max and file-max"


main(CAPABILITY, exercise)
