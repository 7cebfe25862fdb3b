"""The group that a process runs as has a name."""

import grp
import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_own_group_name"


def exercise():
    try:
        grp.getgrgid(os.getgid())
    except KeyError as error:
        raise Blocked("the group has no name", "ENOENT") from error
    return "the group has a name"


main(CAPABILITY, exercise)
