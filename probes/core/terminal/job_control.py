"""A shell can move a program to the front of its terminal and back (tcsetpgrp)."""

import os
import pty
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_job_control"


def shell():
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        signal.alarm(20)
        while True:
            signal.pause()
    os.setpgid(job, job)
    os.tcsetpgrp(0, job)
    front = os.tcgetpgrp(0) == job
    os.tcsetpgrp(0, os.getpgrp())
    os.kill(job, signal.SIGKILL)
    os.waitpid(job, 0)
    return front


def exercise():
    pid, _ = pty.fork()
    if pid == 0:
        try:
            os._exit(0 if shell() else 200)
        except OSError as error:
            os._exit(error.errno)
    error = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if error:
        raise OSError(error, os.strerror(error))
    return "a job came to the front and back"


main(CAPABILITY, exercise)
