"""The machine's disks can be listed (/proc/partitions)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "devices_partitions_list"


def exercise():
    with open("/proc/partitions") as file:
        if len(file.readlines()) < 3:
            raise Blocked("no disk is listed")
    return "listed disks"


main(CAPABILITY, exercise)
