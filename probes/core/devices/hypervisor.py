"""The hypervisor's socket device can be opened (/dev/vsock)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_hypervisor"


def exercise():
    os.close(os.open("/dev/vsock", os.O_RDONLY))
    return "opened /dev/vsock"


main(CAPABILITY, exercise)
