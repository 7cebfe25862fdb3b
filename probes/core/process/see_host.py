"""A process outside the sandbox can be seen in /proc."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, witness

CAPABILITY = "process_see_host"


def exercise():
    with open(f"/proc/{witness('PID')}/cmdline", "rb") as file:
        if not file.read():
            raise Blocked("its command line is empty")
    return "read the command line of a process outside"


main(CAPABILITY, exercise)
