"""Hosts can be pinged without privileges (ICMP datagram sockets)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_ping_socket"


def exercise():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).close()
    return "opened an ICMP datagram socket"


main(CAPABILITY, exercise)
