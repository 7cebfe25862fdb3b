"""A process can choose the processors that it runs on."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "process_affinity"


def choose():
    one = {min(os.sched_getaffinity(0))}
    os.sched_setaffinity(0, one)
    assert os.sched_getaffinity(0) == one
    return "chose one processor"


def exercise():
    return in_child(choose)


main(CAPABILITY, exercise)
