"""Network interfaces can be changed. The loopback is given the flags that it has."""

import fcntl
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_change_interface"


def exercise():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = b"lo".ljust(40, b"\0")
        flags = fcntl.ioctl(any_socket, 0x8913, request)  # SIOCGIFFLAGS
        fcntl.ioctl(any_socket, 0x8914, flags)  # SIOCSIFFLAGS
    return "set the loopback's flags to what they were"


main(CAPABILITY, exercise)
