"""The monotonic clock counts nanoseconds."""

import sys
import time

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "time_resolution"


def exercise():
    if time.clock_getres(time.CLOCK_MONOTONIC) > 1e-6:
        raise Blocked("the clock is coarser than a microsecond")
    return "finer than a microsecond"


main(CAPABILITY, exercise)
