"""A directory that is not empty can be renamed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_rename_directory"


def exercise():
    old, new = scratch("old"), scratch("new")
    os.makedirs(f"{old}/inner")
    os.rename(old, new)
    os.rmdir(f"{new}/inner")
    os.rmdir(new)
    return "renamed a directory with its contents"


main(CAPABILITY, exercise)
