"""A device's settings can be changed through /sys. None is."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_devices_tree"


def exercise():
    os.close(os.open("/sys/power/state", os.O_WRONLY))
    return "opened /sys/power/state for writing and wrote nothing"


main(CAPABILITY, exercise)
