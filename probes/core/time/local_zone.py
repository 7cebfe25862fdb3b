"""A process can be moved to another time zone by its environment (TZ)."""

import os
import sys
import time

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "time_local_zone"


def exercise():
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    if time.timezone != -9 * 3600:
        raise Blocked("libc does not know Asia/Tokyo", "ENOENT")
    return "Tokyo is nine hours ahead"


main(CAPABILITY, exercise)
