"""A file can be made to run as its owner (set-user-ID)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, scratch

CAPABILITY = "filesystem_setid_bit"


def exercise():
    path = scratch("setid")
    open(path, "x").close()
    try:
        os.chmod(path, 0o4755)
        if not os.stat(path).st_mode & 0o4000:
            raise Blocked("the bit was dropped")
    finally:
        os.unlink(path)
    return "set mode 4755"


main(CAPABILITY, exercise)
