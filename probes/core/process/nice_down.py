"""A process can raise its priority."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "process_nice_down"


def exercise():
    in_child(lambda: os.nice(-1))
    return "became less nice by 1"


main(CAPABILITY, exercise)
