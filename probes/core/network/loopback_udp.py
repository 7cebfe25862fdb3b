"""Datagrams reach their receiver on the loopback."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_loopback_udp"


def exercise():
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(10)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.sendto(b"hello", receiver.getsockname())
    assert receiver.recv(5) == b"hello"
    return "UDP on 127.0.0.1"


main(CAPABILITY, exercise)
