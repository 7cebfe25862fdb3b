"""Virtual machines can be run (/dev/kvm)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_virtual_machines"


def exercise():
    os.close(os.open("/dev/kvm", os.O_RDWR))
    return "opened /dev/kvm"


main(CAPABILITY, exercise)
