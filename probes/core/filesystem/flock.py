"""A lock on a file keeps another process away (flock)."""

import fcntl
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main, scratch

CAPABILITY = "filesystem_flock"


def exercise():
    path = scratch("lock")
    with open(path, "x") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def second():
            with open(path) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return "the second process was kept away"
            raise AssertionError("two processes hold the lock")

        try:
            return in_child(second)
        finally:
            os.unlink(path)


main(CAPABILITY, exercise)
