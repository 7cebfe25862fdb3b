"""Process 1 can be signalled: the machine's first, or the one that keeps the sandbox."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_signal_init"


def exercise():
    if os.getpid() == 1:
        raise Blocked("this is process 1", "ESRCH")
    os.kill(1, 0)
    return "signal 0 reached process 1"


main(CAPABILITY, exercise)
