"""A file can replace another atomically (rename)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_rename_over"


def exercise():
    old, new = scratch("old"), scratch("new")
    with open(old, "x") as file:
        file.write("old")
    with open(new, "x") as file:
        file.write("new")
    os.replace(new, old)
    with open(old) as file:
        assert file.read() == "new"
    os.unlink(old)
    return "replaced a file by renaming"


main(CAPABILITY, exercise)
