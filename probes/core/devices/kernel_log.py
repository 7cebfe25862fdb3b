"""The kernel's log can be opened (/dev/kmsg)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_kernel_log"


def exercise():
    os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    return "opened /dev/kmsg"


main(CAPABILITY, exercise)
