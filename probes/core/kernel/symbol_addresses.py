"""The addresses of the kernel's functions can be read (/proc/kallsyms)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_symbol_addresses"


def exercise():
    with open("/proc/kallsyms") as file:
        for line in file:
            if int(line.split()[0], 16):
                return "read addresses"
    raise Blocked("the addresses are hidden")


main(CAPABILITY, exercise)
