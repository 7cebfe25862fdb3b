"""The kernel's view of the machine's hardware, /sys, can be listed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "filesystem_sys_list"


def exercise():
    if not os.listdir("/sys"):
        raise Blocked("/sys is empty")
    return "listed /sys"


main(CAPABILITY, exercise)
