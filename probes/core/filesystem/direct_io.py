"""A file can be read past the page cache (O_DIRECT)."""

import mmap
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_direct_io"


def exercise():
    path = scratch("direct")
    with open(path, "xb") as file:
        file.write(b"x" * 4096)
    try:
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        assert os.readv(file, [mmap.mmap(-1, 4096)]) == 4096
    finally:
        os.unlink(path)
    return "read 4,096 bytes with O_DIRECT"


main(CAPABILITY, exercise)
