"""A server and a client can talk over IPv6 on the loopback."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_loopback_ipv6"


def exercise():
    server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    client = socket.create_connection(server.getsockname()[:2], 10)
    accepted = server.accept()[0]
    client.sendall(b"hello")
    assert accepted.recv(5) == b"hello"
    return "TCP on ::1"


main(CAPABILITY, exercise)
