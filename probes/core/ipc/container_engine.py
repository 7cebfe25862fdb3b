"""A container engine can be spoken to, which amounts to being root."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_container_engine"


def exercise():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect("/run/docker.sock")
    return "connected to Docker"


main(CAPABILITY, exercise)
