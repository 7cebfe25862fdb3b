"""The kernel's ciphers can be used through sockets (AF_ALG), a source of many kernel faults."""

import socket
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "network_crypto_socket"


def exercise():
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).close()
    return "opened an AF_ALG socket"


main(CAPABILITY, exercise)
