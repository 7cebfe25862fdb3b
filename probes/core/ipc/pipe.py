"""Processes can talk through a pipe."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_pipe"


def exercise():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, b"hello")
        os._exit(0)
    assert os.read(read, 5) == b"hello"
    os.waitpid(pid, 0)
    return "a child wrote, its parent read"


main(CAPABILITY, exercise)
