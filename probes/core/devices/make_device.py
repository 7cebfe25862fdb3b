"""A device can be made (mknod). Of the null device, in the temporary directory."""

import os
import stat
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "devices_make_device"


def exercise():
    path = scratch("device")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)
    return "made a device"


main(CAPABILITY, exercise)
