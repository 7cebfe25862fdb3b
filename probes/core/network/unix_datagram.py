"""Datagrams can be sent to a socket in the file system."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "network_unix_datagram"


def exercise():
    path = scratch("socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(path)
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            sender.sendto(b"hello", path)
        finally:
            os.unlink(path)
        assert receiver.recv(5) == b"hello"
    return "sent a datagram through a unix socket"


main(CAPABILITY, exercise)
