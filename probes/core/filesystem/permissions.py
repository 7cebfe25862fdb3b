"""Permission bits can be set, and hold for their owner."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, scratch

CAPABILITY = "filesystem_permissions"


def exercise():
    path = scratch("mode")
    open(path, "x").close()
    try:
        os.chmod(path, 0o640)
        if os.stat(path).st_mode & 0o777 != 0o640:
            raise Blocked("chmod changed nothing")
    finally:
        os.unlink(path)
    return "set mode 0640"


main(CAPABILITY, exercise)
