"""How the memory of process 1 is laid out can be read."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_init_memory_map"


def exercise():
    with open("/proc/1/maps", "rb") as file:
        if not file.read():
            raise Blocked("the map of process 1 is empty")
    return "read /proc/1/maps"


main(CAPABILITY, exercise)
