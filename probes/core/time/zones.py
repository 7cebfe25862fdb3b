"""The time zones of the world are known."""

import sys
import zoneinfo
from datetime import datetime, timedelta

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "time_zones"


def exercise():
    try:
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError as error:
        raise Blocked(f"no time zones: {error}", "ENOENT") from error
    assert datetime(2024, 7, 1, tzinfo=berlin).utcoffset() == timedelta(hours=2)
    return "Berlin is two hours ahead in July"


main(CAPABILITY, exercise)
