"""Processes can communicate through an abstract socket."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_unix_abstract"


def exercise():
    name = f"\0wardian-probe-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(name)
        server.listen()
        client.connect(name)
    return "talked through an abstract socket"


main(CAPABILITY, exercise)
