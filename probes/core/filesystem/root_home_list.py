"""The home directory of root can be listed."""

import errno
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_root_home_list"


def exercise():
    files = [one.name for one in os.scandir("/root") if one.is_file()]
    if not files:  # only the way to an installation that is shared
        raise FileNotFoundError(errno.ENOENT, "no file of a home in it", "/root")
    return "listed /root"


main(CAPABILITY, exercise)
