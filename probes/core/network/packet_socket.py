"""All packets of an interface can be captured (AF_PACKET)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_packet_socket"


def exercise():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "opened a packet socket"


main(CAPABILITY, exercise)
