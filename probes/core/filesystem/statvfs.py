"""A filesystem reports its size and free space."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_statvfs"


def exercise():
    facts = os.statvfs(os.path.dirname(scratch()))
    assert facts.f_blocks > 0
    assert facts.f_bavail > 0
    return "the temporary directory has a size and free room"


main(CAPABILITY, exercise)
