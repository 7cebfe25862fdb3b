"""Processes can communicate through a socket in the filesystem."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "network_unix_stream"


def exercise():
    path = scratch("socket")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        try:
            server.listen()
            client.connect(path)
        finally:
            os.unlink(path)
        accepted = server.accept()[0]
        client.sendall(b"hello")
        assert accepted.recv(5) == b"hello"
    return "talked through a unix socket"


main(CAPABILITY, exercise)
