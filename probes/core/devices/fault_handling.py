"""Memory faults can be handled through a device (/dev/userfaultfd)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_fault_handling"


def exercise():
    os.close(os.open("/dev/userfaultfd", os.O_RDWR))
    return "opened /dev/userfaultfd"


main(CAPABILITY, exercise)
