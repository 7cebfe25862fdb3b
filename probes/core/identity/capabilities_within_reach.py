"""The process could gain capabilities (its bounding set is not empty)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_capabilities_within_reach"


def exercise():
    with open("/proc/self/status") as file:
        facts = dict(line.split(":", 1) for line in file)
    if not int(facts["CapBnd"], 16):
        raise Blocked("none is within reach", "EPERM")
    return "some are within reach"


main(CAPABILITY, exercise)
