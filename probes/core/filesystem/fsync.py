"""A file and its directory can be written out to the disk."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_fsync"


def exercise():
    path = scratch("synced")
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    with open(path, "xb") as file:
        file.write(b"x")
        file.flush()
        os.fsync(file.fileno())
        os.fdatasync(file.fileno())
    os.unlink(path)
    os.fsync(directory)
    return "synced a file and its directory"


main(CAPABILITY, exercise)
