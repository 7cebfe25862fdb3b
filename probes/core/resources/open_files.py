"""256 files can be open at once."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_open_files"


def exercise():
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(256)]
    assert len(set(opened)) == 256
    return "256 files open"


main(CAPABILITY, exercise)
