"""A process can learn what it has used."""

import resource
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_usage"


def exercise():
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert used.ru_maxrss > 0
    assert used.ru_utime + used.ru_stime > 0
    return "learned memory and time used"


main(CAPABILITY, exercise)
