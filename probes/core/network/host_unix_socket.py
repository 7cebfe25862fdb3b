"""A service on a socket in the host's files can be reached."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "network_host_unix_socket"


def exercise():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(witness("SOCKET"))
        assert client.recv(7) == b"wardian"
    return "reached a service on a unix socket of the host's"


main(CAPABILITY, exercise)
