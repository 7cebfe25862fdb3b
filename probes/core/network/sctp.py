"""Connections can be made by SCTP, which rules for TCP do not cover."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_sctp"


def exercise():
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP).close()
    return "opened an SCTP socket"


main(CAPABILITY, exercise)
