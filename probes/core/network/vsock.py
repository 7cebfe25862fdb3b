"""The hypervisor can be reached (AF_VSOCK), regardless of network namespaces."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_vsock"


def exercise():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return "opened a vsock socket"


main(CAPABILITY, exercise)
