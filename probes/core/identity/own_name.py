"""The user that a process runs as has a name and a home."""

import os
import pwd
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_own_name"


def exercise():
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise Blocked("the user has no name", "ENOENT") from error
    assert entry.pw_dir
    return "the user has a name"


main(CAPABILITY, exercise)
