"""The machine's screen and keyboard can be opened (/dev/tty1)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_virtual_console"


def exercise():
    os.close(os.open("/dev/tty1", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK))
    return "opened /dev/tty1"


main(CAPABILITY, exercise)
