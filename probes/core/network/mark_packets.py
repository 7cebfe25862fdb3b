"""Packets can be marked for the host's routing rules (SO_MARK)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_mark_packets"


def exercise():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.SOL_SOCKET, 36, 1)
    return "marked a socket's packets"


main(CAPABILITY, exercise)
