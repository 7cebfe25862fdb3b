"""A service on an abstract socket of the host's, which has no file, can be reached."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "network_host_abstract_socket"


def exercise():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(f"\0{witness('ABSTRACT')}")
        assert client.recv(7) == b"wardian"
    return "reached a service on an abstract socket of the host's"


main(CAPABILITY, exercise)
