"""Connections can use several paths at once (MPTCP), which rules for TCP do not cover."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_multipath_tcp"


def exercise():
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close()
    return "opened an MPTCP socket"


main(CAPABILITY, exercise)
