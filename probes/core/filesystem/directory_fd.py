"""Files can be named relative to an open directory (openat and kin)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_directory_fd"


def exercise():
    path = scratch("relative")
    os.mkdir(path)
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.close(os.open("a", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
    os.rename("a", "b", src_dir_fd=directory, dst_dir_fd=directory)
    os.unlink("b", dir_fd=directory)
    os.rmdir(path)
    return "made, renamed and removed a file by directory descriptor"


main(CAPABILITY, exercise)
