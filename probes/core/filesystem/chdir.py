"""The working directory can be changed and read."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_chdir"


def exercise():
    os.chdir("/usr/bin")
    assert os.getcwd() == os.path.realpath("/usr/bin")
    assert os.path.exists("env")
    return "changed to /usr/bin"


main(CAPABILITY, exercise)
