"""There is a network interface besides the loopback."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "network_outside_interface"


def exercise():
    if not {name for _, name in socket.if_nameindex()} - {"lo"}:
        raise Blocked("there is no interface but lo", "ENODEV")
    return "there are other interfaces than lo"


main(CAPABILITY, exercise)
