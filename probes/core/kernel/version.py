"""The kernel reports its name and version."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "kernel_version"


def exercise():
    name = os.uname()
    assert name.sysname == "Linux"
    assert name.release
    return "a Linux"


main(CAPABILITY, exercise)
