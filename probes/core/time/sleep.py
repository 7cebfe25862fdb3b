"""A process can sleep, and wakes up no earlier than it asked."""

import sys
import time

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "time_sleep"


def exercise():
    before = time.monotonic()
    time.sleep(0.005)
    assert time.monotonic() - before >= 0.005
    return "slept for 5 ms or more"


main(CAPABILITY, exercise)
