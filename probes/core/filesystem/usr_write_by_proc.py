"""The system's programs can be changed by way of /proc/self/root."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_usr_write_by_proc"


def exercise():
    path = f"/proc/self/root/usr/.{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return "made and removed a file in /proc/self/root/usr"


main(CAPABILITY, exercise)
