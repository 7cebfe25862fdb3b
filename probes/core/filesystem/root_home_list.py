"""The home directory of root can be listed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_root_home_list"


def exercise():
    os.listdir("/root")
    return "listed /root"


main(CAPABILITY, exercise)
