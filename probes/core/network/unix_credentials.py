"""A server on a socket can identify its client (SO_PEERCRED)."""

import os
import socket
import struct
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_unix_credentials"


def exercise():
    ours, _ = socket.socketpair()
    raw = ours.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    assert struct.unpack("3i", raw) == (os.getpid(), os.getuid(), os.getgid())
    return "knew the peer's process, user and group"


main(CAPABILITY, exercise)
