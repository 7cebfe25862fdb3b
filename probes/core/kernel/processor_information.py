"""The processor's model and features can be read (/proc/cpuinfo)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_processor_information"


def exercise():
    with open("/proc/cpuinfo") as file:
        assert "processor" in file.read()
    return "read /proc/cpuinfo"


main(CAPABILITY, exercise)
