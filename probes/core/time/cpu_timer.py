"""A timer can count the processor time that is used (ITIMER_VIRTUAL)."""

import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "time_cpu_timer"


def exercise():
    seen = []
    signal.signal(signal.SIGVTALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.002)
    for _ in range(100_000_000):
        if seen:
            return "SIGVTALRM came"
    raise TimeoutError("SIGVTALRM never came")


main(CAPABILITY, exercise)
