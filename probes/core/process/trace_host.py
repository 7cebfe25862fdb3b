"""The memory of a process outside the sandbox can be opened."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "process_trace_host"


def exercise():
    os.close(os.open(f"/proc/{witness('PID')}/mem", os.O_RDONLY))
    return "opened the memory of a process outside"


main(CAPABILITY, exercise)
