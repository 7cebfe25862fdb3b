"""A service on the host's loopback can be reached."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "network_host_loopback"


def exercise():
    with socket.create_connection(("127.0.0.1", int(witness("PORT"))), 5) as client:
        assert client.recv(7) == b"wardian"
    return "reached a service on the host's loopback"


main(CAPABILITY, exercise)
