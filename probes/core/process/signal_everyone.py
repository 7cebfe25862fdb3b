"""Other processes than the guest's own can be signalled (kill -1)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_signal_everyone"


def exercise():
    os.kill(-1, 0)
    return "signal 0 reached another process"


main(CAPABILITY, exercise)
