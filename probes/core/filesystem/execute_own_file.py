"""A program that one has just written can be run."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_execute_own_file"


def exercise():
    path = scratch("program")
    with open(path, "x") as file:
        file.write("#!/bin/sh\nexit 7\n")
    os.chmod(path, 0o755)
    try:
        pid = os.posix_spawn(path, [path], {})
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    finally:
        os.unlink(path)
    return "ran a script out of the temporary directory"


main(CAPABILITY, exercise)
