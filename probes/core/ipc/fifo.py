"""Processes can talk through a pipe with a name."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "ipc_fifo"


def exercise():
    path = scratch("fifo")
    os.mkfifo(path)
    pid = os.fork()
    if pid == 0:
        with open(path, "wb") as writer:
            writer.write(b"hello")
        os._exit(0)
    with open(path, "rb") as reader:
        assert reader.read() == b"hello"
    os.waitpid(pid, 0)
    os.unlink(path)
    return "a child wrote, its parent read"


main(CAPABILITY, exercise)
