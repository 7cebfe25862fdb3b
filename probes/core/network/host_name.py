"""The machine's own name leads to an address."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "network_host_name"


def exercise():
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except socket.gaierror as error:
        raise Blocked(f"the host's own name: {error}") from error
    return "the host's own name has an address"


main(CAPABILITY, exercise)
