"""A symbolic link can be made, read and followed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_symlink"


def exercise():
    link = scratch("link")
    os.symlink("/dev/null", link)
    try:
        assert os.readlink(link) == "/dev/null"
        assert os.path.samefile(link, "/dev/null")
    finally:
        os.unlink(link)
    return "made and followed a symbolic link"


main(CAPABILITY, exercise)
