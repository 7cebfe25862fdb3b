"""A file with a hole takes no room for it."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, scratch

CAPABILITY = "filesystem_sparse_file"


def exercise():
    path = scratch("sparse")
    with open(path, "xb") as file:
        os.unlink(path)
        file.truncate(256 << 20)
        if os.fstat(file.fileno()).st_blocks * 512 > 1 << 20:
            raise Blocked("the hole takes room")
    return "a hole of 256 MiB takes no room"


main(CAPABILITY, exercise)
