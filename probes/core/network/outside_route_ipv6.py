"""There is a route to IPv6 addresses beyond the loopback. Nothing is sent."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_outside_route_ipv6"


def exercise():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
        sender.connect(("2001:db8::1", 9))
    return "there is a route to 2001:db8::1"


main(CAPABILITY, exercise)
