"""The clocks that programs use are there, and do not run backwards."""

import sys
import time

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "time_clocks"


def exercise():
    assert time.time() > 1_600_000_000
    assert time.monotonic_ns() <= time.monotonic_ns()
    for clock in (time.CLOCK_BOOTTIME, time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID):
        time.clock_gettime(clock)
    return "five clocks answer"


main(CAPABILITY, exercise)
