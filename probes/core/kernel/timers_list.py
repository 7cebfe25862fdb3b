"""The timers of all processes can be listed (/proc/timer_list)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_timers_list"


def exercise():
    with open("/proc/timer_list") as file:
        if not file.readline():
            raise Blocked("/proc/timer_list is covered")
    return "read /proc/timer_list"


main(CAPABILITY, exercise)
