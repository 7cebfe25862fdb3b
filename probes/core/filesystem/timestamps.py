"""A file's times can be set to the nanosecond."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_timestamps"


def exercise():
    path = scratch("times")
    open(path, "x").close()
    try:
        os.utime(path, ns=(1_000_000_001, 2_000_000_002))
        assert os.stat(path).st_mtime_ns == 2_000_000_002
    finally:
        os.unlink(path)
    return "set times of 1970 with nanoseconds"


main(CAPABILITY, exercise)
