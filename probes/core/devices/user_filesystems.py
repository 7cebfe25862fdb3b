"""Filesystems can be served by programs (/dev/fuse)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_user_filesystems"


def exercise():
    os.close(os.open("/dev/fuse", os.O_RDWR))
    return "opened /dev/fuse"


main(CAPABILITY, exercise)
