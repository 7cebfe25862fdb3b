"""Memory can be mapped and given back."""

import mmap
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "memory_map_anonymous"


def exercise():
    with mmap.mmap(-1, 1 << 20) as room:
        room[-1] = 1
    return "mapped and unmapped 1 MiB"


main(CAPABILITY, exercise)
