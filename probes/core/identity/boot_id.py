"""The unique ID of this boot can be read (boot_id)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_boot_id"


def exercise():
    with open("/proc/sys/kernel/random/boot_id") as file:
        if not file.read().strip():
            raise Blocked("boot_id is empty")
    return "read boot_id"


main(CAPABILITY, exercise)
