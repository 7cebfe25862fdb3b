"""There is a route to addresses beyond the loopback. Nothing is sent."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_outside_route"


def exercise():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("198.51.100.1", 9))
    return "there is a route to 198.51.100.1"


main(CAPABILITY, exercise)
