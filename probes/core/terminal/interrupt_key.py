"""Ctrl-C on a terminal interrupts the foreground program (SIGINT)."""

import fcntl
import os
import signal
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, in_child, main

CAPABILITY = "terminal_interrupt_key"


def press():
    master, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.write(master, b"\x03")
    if not signal.sigtimedwait({signal.SIGINT}, 5):
        raise Blocked("SIGINT did not come")
    return "Ctrl-C became SIGINT"


def exercise():
    return in_child(press)


main(CAPABILITY, exercise)
