"""A child can be stopped, continued and killed."""

import os
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_signal_child"


def exercise():
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        while True:
            signal.pause()
    try:
        os.kill(pid, signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
        os.kill(pid, signal.SIGCONT)
        assert os.WIFCONTINUED(os.waitpid(pid, os.WCONTINUED)[1])
    finally:
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL
    return "stopped, continued and killed a child"


main(CAPABILITY, exercise)
