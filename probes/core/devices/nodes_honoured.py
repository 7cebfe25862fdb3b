"""A device node works where the system's programs are (the mount is not nodev)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "devices_nodes_honoured"


def exercise():
    if os.statvfs("/usr/bin").f_flag & os.ST_NODEV:
        raise Blocked("/usr/bin is mounted nodev", "EPERM")
    return "/usr/bin is not mounted nodev"


main(CAPABILITY, exercise)
