"""A file can have two names."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_hard_link"


def exercise():
    first, second = scratch("first"), scratch("second")
    open(first, "x").close()
    try:
        os.link(first, second)
        os.unlink(second)
    finally:
        os.unlink(first)
    return "linked a file"


main(CAPABILITY, exercise)
