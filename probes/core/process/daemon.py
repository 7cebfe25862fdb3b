"""A grandchild runs on after its parent has ended."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_daemon"


def exercise():
    alive, gone = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os.close(gone[1])
            os.read(gone[0], 1)  # until the first child is waited for
            os.write(alive[1], b"alive")
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(gone[1])
    os.close(alive[1])
    assert os.read(alive[0], 5) == b"alive"
    return "a grandchild wrote after its parent's end"


main(CAPABILITY, exercise)
