"""A lock on part of a file keeps another process away (fcntl), as databases need."""

import fcntl
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main, scratch

CAPABILITY = "filesystem_record_lock"


def exercise():
    path = scratch("lock")
    with open(path, "x+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX, 10, 0)

        def second():
            with open(path, "r+") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
                except OSError:
                    return "an overlapping range was kept, a free one given"
            raise AssertionError("two processes hold the range")

        try:
            return in_child(second)
        finally:
            os.unlink(path)


main(CAPABILITY, exercise)
