"""The kernel's firewall can be spoken to (NETLINK_NETFILTER), a source of many kernel faults."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_firewall_socket"


def exercise():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12).close()
    return "opened a netfilter socket"


main(CAPABILITY, exercise)
