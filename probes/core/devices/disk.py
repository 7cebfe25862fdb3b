"""A disk of the machine can be opened."""

import os
import stat
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "devices_disk"


def exercise():
    with os.scandir("/dev") as entries:
        disks = [
            entry.path
            for entry in entries
            if stat.S_ISBLK(entry.stat(follow_symlinks=False).st_mode)
        ]
    disks = sorted(path for path in disks if not path.startswith(("/dev/sr", "/dev/fd")))
    if not disks:
        raise Blocked("there is no disk in /dev", "ENOENT")
    os.close(os.open(disks[-1], os.O_RDONLY | os.O_NONBLOCK))
    return "opened a disk"


main(CAPABILITY, exercise)
