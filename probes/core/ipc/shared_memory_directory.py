"""A file can be made in /dev/shm, where named shared memory lives."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "ipc_shared_memory_directory"


def exercise():
    path = f"/dev/shm/{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    os.unlink(path)
    return "made and removed a file in /dev/shm"


main(CAPABILITY, exercise)
