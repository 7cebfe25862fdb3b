"""The process holds capabilities."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_capabilities"


def exercise():
    with open("/proc/self/status") as file:
        facts = dict(line.split(":", 1) for line in file)
    sets = ("CapInh", "CapPrm", "CapEff", "CapAmb")
    if not any(int(facts.get(name, "0"), 16) for name in sets):
        raise Blocked("it holds none", "EPERM")
    return "it holds some"


main(CAPABILITY, exercise)
