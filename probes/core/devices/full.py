"""Writing to /dev/full fails with ENOSPC, as tests need."""

import errno
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_full"


def exercise():
    with open("/dev/full", "wb", buffering=0) as full:
        try:
            full.write(b"x")
        except OSError as error:
            if error.errno == errno.ENOSPC:
                return "writing to /dev/full is ENOSPC"
            raise
    raise AssertionError("/dev/full took something")


main(CAPABILITY, exercise)
