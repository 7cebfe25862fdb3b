"""Set-user-ID bits count where the system's programs are (the mount is not nosuid)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "filesystem_setid_honoured"


def exercise():
    if os.statvfs("/usr/bin").f_flag & os.ST_NOSUID:
        raise Blocked("/usr/bin is mounted nosuid", "EPERM")
    return "/usr/bin is not mounted nosuid"


main(CAPABILITY, exercise)
