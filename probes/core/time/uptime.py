"""The machine's uptime can be read."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "time_uptime"


def exercise():
    with open("/proc/uptime") as file:
        assert float(file.read().split()[0]) >= 0
    return "read /proc/uptime"


main(CAPABILITY, exercise)
