"""There are devices besides the harmless ones that programs expect."""

import os
import stat
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "devices_beyond_the_harmless"

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


def exercise():
    with os.scandir("/dev") as entries:
        devices = {
            e.name
            for e in entries
            if stat.S_IFMT(e.stat(follow_symlinks=False).st_mode) in (0o20000, 0o60000)
        }
    if not devices - HARMLESS:
        raise Blocked("there are none but the harmless ones", "ENOENT")
    return "there are more devices"


main(CAPABILITY, exercise)
