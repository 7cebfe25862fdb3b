"""The environment of process 1 can be read, which may be that of whoever started the sandbox."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_init_environment"


def exercise():
    with open("/proc/1/environ", "rb") as file:
        if not file.read():
            raise Blocked("the environment of process 1 is empty")
    return "read /proc/1/environ"


main(CAPABILITY, exercise)
