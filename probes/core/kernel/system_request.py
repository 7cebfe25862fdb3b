"""The kernel's emergency commands can be given (/proc/sysrq-trigger). None is given."""

import os
import stat
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_system_request"


def exercise():
    trigger = os.open("/proc/sysrq-trigger", os.O_WRONLY)
    if not stat.S_ISREG(os.fstat(trigger).st_mode):
        raise Blocked("/proc/sysrq-trigger is covered")
    return "opened /proc/sysrq-trigger and wrote nothing"


main(CAPABILITY, exercise)
