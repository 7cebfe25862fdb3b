"""A shell can move a program to the foreground and back (tcsetpgrp)."""

import fcntl
import os
import signal
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "terminal_job_control"


def shell():
    _, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        signal.alarm(20)
        while True:
            signal.pause()
    try:
        os.setpgid(job, job)
        os.tcsetpgrp(slave, job)
        assert os.tcgetpgrp(slave) == job
        os.tcsetpgrp(slave, os.getpgrp())
    finally:
        os.kill(job, signal.SIGKILL)
        os.waitpid(job, 0)
    return "a job came to the front and back"


def exercise():
    return in_child(shell)


main(CAPABILITY, exercise)
