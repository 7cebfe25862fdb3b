"""The machine's logs can be listed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_var_log_list"


def exercise():
    os.listdir("/var/log")
    return "listed /var/log"


main(CAPABILITY, exercise)
