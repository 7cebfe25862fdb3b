"""The machine's hardware clock can be opened (/dev/rtc0)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_hardware_clock"


def exercise():
    os.close(os.open("/dev/rtc0", os.O_RDONLY))
    return "opened /dev/rtc0"


main(CAPABILITY, exercise)
