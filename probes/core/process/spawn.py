"""A program can be started and its output read."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_spawn"


def exercise():
    read, write = os.pipe()
    out = [(os.POSIX_SPAWN_DUP2, write, 1)]
    pid = os.posix_spawn("/bin/echo", ["echo", "hello"], {}, file_actions=out)
    os.waitpid(pid, 0)
    assert os.read(read, 16) == b"hello\n"
    return "echo said hello"


main(CAPABILITY, exercise)
