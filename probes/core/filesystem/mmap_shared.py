"""What is written to a shared mapping of a file is in the file."""

import mmap
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_mmap_shared"


def exercise():
    path = scratch("mapped")
    with open(path, "x+b") as file:
        os.unlink(path)
        file.truncate(mmap.PAGESIZE)
        with mmap.mmap(file.fileno(), mmap.PAGESIZE) as mapped:
            mapped[:5] = b"hello"
            mapped.flush()
        assert os.pread(file.fileno(), 5, 0) == b"hello"
    return "wrote to a file through memory"


main(CAPABILITY, exercise)
