"""A process outside the sandbox can be signalled."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "process_signal_host"


def exercise():
    os.kill(int(witness("PID")), 0)
    return "signal 0 reached a process outside"


main(CAPABILITY, exercise)
