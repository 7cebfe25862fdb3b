"""Processes can talk both ways through a pair of sockets."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_socketpair"


def exercise():
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        theirs.sendall(theirs.recv(5).upper())
        os._exit(0)
    ours.sendall(b"hello")
    assert ours.recv(5) == b"HELLO"
    os.waitpid(pid, 0)
    return "a child answered its parent"


main(CAPABILITY, exercise)
