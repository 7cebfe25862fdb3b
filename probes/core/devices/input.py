"""The keyboard and the mouse can be listened to (/dev/input)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_input"


def exercise():
    os.close(os.open("/dev/input/event0", os.O_RDONLY | os.O_NONBLOCK))
    return "opened /dev/input/event0"


main(CAPABILITY, exercise)
