"""Raw packets can be sent (SOCK_RAW)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_raw_socket"


def exercise():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "opened a raw socket"


main(CAPABILITY, exercise)
