"""The interrupts of the machine can be counted, which shows when others type (/proc/interrupts)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_interrupts_list"


def exercise():
    with open("/proc/interrupts") as file:
        if not file.read():
            raise Blocked("/proc/interrupts is covered")
    return "read /proc/interrupts"


main(CAPABILITY, exercise)
