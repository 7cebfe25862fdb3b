"""The machine's memory can be opened (/dev/mem)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_physical_memory"


def exercise():
    os.close(os.open("/dev/mem", os.O_RDONLY))
    return "opened /dev/mem"


main(CAPABILITY, exercise)
