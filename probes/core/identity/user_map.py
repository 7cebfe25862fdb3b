"""User ids inside are those outside (no user namespace)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_user_map"


def exercise():
    with open("/proc/self/uid_map") as file:
        if file.read().split() != ["0", "0", "4294967295"]:
            raise Blocked("ids are mapped")
    return "ids are the host's own"


main(CAPABILITY, exercise)
