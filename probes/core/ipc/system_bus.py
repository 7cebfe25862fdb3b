"""The machine's services can be spoken to over D-Bus."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_system_bus"


def exercise():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect("/run/dbus/system_bus_socket")
    return "connected to the system bus"


main(CAPABILITY, exercise)
