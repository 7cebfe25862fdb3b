"""A service on the host's loopback answers datagrams."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "network_host_loopback_udp"


def exercise():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", int(witness("UDP_PORT"))))
        client.settimeout(5)
        client.send(b"hello")
        assert client.recv(16) == b"hello"
    return "reached a datagram service on the host's loopback"


main(CAPABILITY, exercise)
