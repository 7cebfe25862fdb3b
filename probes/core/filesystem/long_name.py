"""A file name may have 255 bytes."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_long_name"


def exercise():
    path = scratch("long")
    path += "x" * (255 - len(os.path.basename(path)))
    open(path, "x").close()
    os.unlink(path)
    return "made a file with a name of 255 bytes"


main(CAPABILITY, exercise)
