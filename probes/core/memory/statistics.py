"""The machine's memory can be asked for, as programs do to size their caches."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "memory_statistics"


def exercise():
    with open("/proc/meminfo") as file:
        facts = dict(line.split(":", 1) for line in file)
    assert int(facts["MemTotal"].split()[0]) > 0
    return "read /proc/meminfo"


main(CAPABILITY, exercise)
