"""An open file can be handed to another process through a socket."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "network_unix_pass_descriptor"


def exercise():
    ours, theirs = socket.socketpair()
    read, write = os.pipe()

    def hand_over():
        socket.send_fds(theirs, [b"x"], [write])

    in_child(hand_over)
    os.close(write)
    received = socket.recv_fds(ours, 1, 1)[1][0]
    os.write(received, b"hello")
    assert os.read(read, 5) == b"hello"
    return "received a descriptor from a child"


main(CAPABILITY, exercise)
