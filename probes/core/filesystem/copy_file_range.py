"""The kernel can copy from file to file (copy_file_range)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_copy_file_range"


def exercise():
    first, second = scratch("first"), scratch("second")
    with open(first, "x+b") as source, open(second, "x+b") as target:
        os.unlink(first)
        os.unlink(second)
        source.write(b"hello")
        source.flush()
        assert os.copy_file_range(source.fileno(), target.fileno(), 5, 0, 0) == 5
        assert os.pread(target.fileno(), 5, 0) == b"hello"
    return "copied a file inside the kernel"


main(CAPABILITY, exercise)
