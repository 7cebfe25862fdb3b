"""A file can be made in the user's home directory."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_home_write"


def exercise():
    path = f"{os.path.expanduser('~')}/.{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return "made and removed a file in the home directory"


main(CAPABILITY, exercise)
