"""Network interfaces can be listed (route netlink), the loopback among them."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_interfaces"


def exercise():
    assert "lo" in {name for _, name in socket.if_nameindex()}
    return "found lo"


main(CAPABILITY, exercise)
