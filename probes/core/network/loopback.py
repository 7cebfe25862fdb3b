"""A server and a client can talk over TCP on the loopback."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_loopback"


def exercise():
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname(), 10)
    accepted = server.accept()[0]
    client.sendall(b"hello")
    assert accepted.recv(5) == b"hello"
    return "TCP on 127.0.0.1"


main(CAPABILITY, exercise)
