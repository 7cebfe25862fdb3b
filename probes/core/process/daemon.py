"""A grandchild whose parent has ended runs on, and someone waits for it."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_daemon"


def exercise():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os.read(os.pipe()[0], 0)
            os.write(write, b"alive")
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    assert os.read(read, 5) == b"alive"
    return "a grandchild wrote after its parent's end"


main(CAPABILITY, exercise)
