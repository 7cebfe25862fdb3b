"""Space for a file can be reserved (fallocate)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_allocate"


def exercise():
    path = scratch("reserved")
    with open(path, "xb") as file:
        os.unlink(path)
        os.posix_fallocate(file.fileno(), 0, 1 << 20)
        assert os.fstat(file.fileno()).st_size == 1 << 20
    return "reserved 1 MiB"


main(CAPABILITY, exercise)
