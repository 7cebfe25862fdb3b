"""The process runs as user 0, or as a user that the kernel treats as 0."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_is_root"


def exercise():
    if os.geteuid() != 0:
        raise Blocked("an ordinary user", "EPERM")
    return "runs as user 0"


main(CAPABILITY, exercise)
