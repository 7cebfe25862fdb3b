"""The mount table can be read, as df and container tools do."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_mountinfo"


def exercise():
    with open("/proc/self/mountinfo") as file:
        assert any(line.split()[4] == "/" for line in file)
    return "found the root in /proc/self/mountinfo"


main(CAPABILITY, exercise)
