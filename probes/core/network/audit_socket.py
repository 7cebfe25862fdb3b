"""The kernel's audit log can be spoken to (NETLINK_AUDIT)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_audit_socket"


def exercise():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9).close()
    return "opened an audit socket"


main(CAPABILITY, exercise)
