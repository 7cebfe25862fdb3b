"""Files can be made into disks (/dev/loop-control)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_loop_control"


def exercise():
    os.close(os.open("/dev/loop-control", os.O_RDWR))
    return "opened /dev/loop-control"


main(CAPABILITY, exercise)
