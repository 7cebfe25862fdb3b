"""A process can limit itself, and the limit holds."""

import errno
import os
import resource
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "resources_lower_limit"


def lower():
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    try:
        for _ in range(32):
            os.open("/dev/null", os.O_RDONLY)
    except OSError as error:
        if error.errno == errno.EMFILE:
            return "a limit of 16 files holds"
        raise
    raise AssertionError("the limit does not hold")


def exercise():
    return in_child(lower)


main(CAPABILITY, exercise)
