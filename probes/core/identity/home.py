"""HOME is set, and is a directory."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_home"


def exercise():
    home = os.environ.get("HOME")
    if not home or not os.path.isdir(home):
        raise Blocked("HOME is no directory", "ENOENT")
    return "HOME is a directory"


main(CAPABILITY, exercise)
