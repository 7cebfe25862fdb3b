"""Ctrl-C on a terminal interrupts the program in front (SIGINT)."""

import os
import pty
import signal
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "terminal_interrupt_key"


def exercise():
    pid, master = pty.fork()
    if pid == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.write(1, b"ready\n")
        os._exit(0 if signal.sigtimedwait({signal.SIGINT}, 5) else 1)
    os.read(master, 16)
    os.write(master, b"\x03")
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise Blocked("no signal came")
    return "Ctrl-C became SIGINT"


main(CAPABILITY, exercise)
