"""The working directory of a process outside the sandbox leads to the host's files."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "process_host_working_directory"


def exercise():
    os.listdir(f"/proc/{witness('PID')}/cwd/")
    return "listed the working directory of a process outside"


main(CAPABILITY, exercise)
