"""The kernel's modules can be listed (/proc/modules)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_modules_list"


def exercise():
    with open("/proc/modules") as file:
        if not file.read():
            raise Blocked("no module is listed")
    return "listed modules"


main(CAPABILITY, exercise)
