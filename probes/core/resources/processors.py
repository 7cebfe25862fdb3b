"""A process can learn how many processors there are."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_processors"


def exercise():
    assert os.cpu_count() >= 1
    assert os.sched_getaffinity(0)
    return "learned the number of processors"


main(CAPABILITY, exercise)
