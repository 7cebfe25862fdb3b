"""Network interfaces can be made by programs (/dev/net/tun)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_tunnels"


def exercise():
    os.close(os.open("/dev/net/tun", os.O_RDWR))
    return "opened /dev/net/tun"


main(CAPABILITY, exercise)
