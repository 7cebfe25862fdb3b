"""64 MiB can be allocated and used."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "memory_allocate"


def exercise():
    room = bytearray(64 << 20)
    room[:: 1 << 12] = b"x" * (64 << 8)
    return "used 64 MiB"


main(CAPABILITY, exercise)
