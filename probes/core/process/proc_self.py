"""A process can learn about itself from /proc/self."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_proc_self"


def exercise():
    with open("/proc/self/status") as file:
        facts = dict(line.split(":", 1) for line in file)
    assert int(facts["Pid"]) == os.getpid()
    assert os.readlink("/proc/self/exe")
    return "read /proc/self/status and /proc/self/exe"


main(CAPABILITY, exercise)
