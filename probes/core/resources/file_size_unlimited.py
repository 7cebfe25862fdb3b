"""A file can be made to look 64 GiB long. It is a hole: nothing is written."""

import os
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "resources_file_size_unlimited"


def exercise():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = scratch("long")
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    os.unlink(path)
    os.truncate(file, 64 << 30)
    return "a file of 64 GiB"


main(CAPABILITY, exercise)
