"""The hypervisor can be talked to (AF_VSOCK), which no network namespace stops."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_vsock"


def exercise():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return "opened a vsock socket"


main(CAPABILITY, exercise)
