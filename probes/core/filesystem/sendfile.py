"""The kernel can copy from a file to a socket (sendfile)."""

import os
import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_sendfile"


def exercise():
    ours, theirs = socket.socketpair()
    with open("/usr/bin/env", "rb") as file:
        assert os.sendfile(ours.fileno(), file.fileno(), 0, 4) == 4
    assert theirs.recv(4) == b"\x7fELF"
    return "sent part of a file"


main(CAPABILITY, exercise)
