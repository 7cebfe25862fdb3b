"""A child can be put into a process group of its own and signalled with it."""

import os
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_group"


def exercise():
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        while True:
            signal.pause()
    os.setpgid(pid, pid)
    assert os.getpgid(pid) == pid
    os.killpg(pid, signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    return "ended a process group"


main(CAPABILITY, exercise)
