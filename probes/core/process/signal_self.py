"""A signal sent to oneself reaches its handler."""

import os
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_signal_self"


def exercise():
    seen = []
    signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    assert seen == [signal.SIGUSR1]
    return "caught SIGUSR1"


main(CAPABILITY, exercise)
