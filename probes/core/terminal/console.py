"""The machine's console can be opened."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_console"


def exercise():
    os.close(os.open("/dev/console", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK))
    return "opened /dev/console"


main(CAPABILITY, exercise)
