"""Device events can be received (NETLINK_KOBJECT_UEVENT)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_device_events_socket"


def exercise():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15).close()
    return "opened a socket for device events"


main(CAPABILITY, exercise)
