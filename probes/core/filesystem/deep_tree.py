"""A tree of directories may be 200 levels deep."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_deep_tree"


def exercise():
    top = scratch("deep")
    os.mkdir(top)
    os.chdir(top)
    for _ in range(200):
        os.mkdir("d")
        os.chdir("d")
    for _ in range(200):
        os.chdir("..")
        os.rmdir("d")
    os.chdir("/")
    os.rmdir(top)
    return "made, entered and removed 200 levels"


main(CAPABILITY, exercise)
