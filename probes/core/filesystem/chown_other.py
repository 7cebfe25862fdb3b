"""A file can be given to another user."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_chown_other"


def exercise():
    path = scratch("given")
    open(path, "x").close()
    try:
        os.chown(path, 65534 if os.getuid() != 65534 else 1, -1)
    finally:
        os.unlink(path)
    return "gave a file away"


main(CAPABILITY, exercise)
