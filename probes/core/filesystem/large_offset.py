"""A byte can be written 1.5 GiB into a file."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_large_offset"


def exercise():
    path = scratch("large")
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.unlink(path)
    assert os.pwrite(file, b"x", 3 << 29) == 1
    assert os.pread(file, 1, 3 << 29) == b"x"
    return "wrote 1.5 GiB into a file of one block"


main(CAPABILITY, exercise)
