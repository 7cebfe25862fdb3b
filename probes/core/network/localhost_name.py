"""The name localhost leads to the loopback."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "network_localhost_name"


def exercise():
    try:
        found = socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise Blocked(f"localhost: {error}") from error
    assert {entry[4][0] for entry in found} <= {"127.0.0.1", "::1"}
    return "localhost is the loopback"


main(CAPABILITY, exercise)
