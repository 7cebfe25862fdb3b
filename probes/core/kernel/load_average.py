"""How busy the machine is can be read (/proc/loadavg)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_load_average"


def exercise():
    with open("/proc/loadavg") as file:
        assert len(file.read().split()) == 5
    return "read /proc/loadavg"


main(CAPABILITY, exercise)
