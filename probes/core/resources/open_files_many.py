"""4,096 files can be open at once in one process."""

import os
import resource
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "resources_open_files_many"


def open_them():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for _ in range(4096):
        os.open("/dev/null", os.O_RDONLY)
    return "4,096 files open"


def exercise():
    return in_child(open_them)


main(CAPABILITY, exercise)
