"""A file can be made among the system's settings, in /etc."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_etc_write"


def exercise():
    path = f"/etc/.{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return "made and removed a file in /etc"


main(CAPABILITY, exercise)
