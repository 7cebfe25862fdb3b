"""Well-known ports have names (/etc/services)."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_service_names"


def exercise():
    assert socket.getservbyname("https", "tcp") == 443
    return "https is port 443"


main(CAPABILITY, exercise)
