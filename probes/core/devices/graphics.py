"""A graphics card can be opened (/dev/dri)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_graphics"


def exercise():
    names = sorted(name for name in os.listdir("/dev/dri") if name.startswith("render"))
    os.close(os.open(f"/dev/dri/{names[0] if names else 'renderD128'}", os.O_RDWR))
    return "opened a graphics card"


main(CAPABILITY, exercise)
