"""A server can listen on a port below 1024."""

import errno
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_low_port"


def exercise():
    for port in range(1023, 1013, -1):
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return "listened on a port below 1024"
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise RuntimeError("ten ports are taken")


main(CAPABILITY, exercise)
