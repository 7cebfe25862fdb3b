"""Programs get a signal when their terminal is resized (SIGWINCH)."""

import fcntl
import os
import signal
import struct
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, in_child, main

CAPABILITY = "terminal_window_size"


def resize():
    master, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("4H", 30, 77, 0, 0))
    assert os.get_terminal_size(slave).columns == 77
    if not signal.sigtimedwait({signal.SIGWINCH}, 5):
        raise Blocked("SIGWINCH did not come")
    return "SIGWINCH came, with 77 columns"


def exercise():
    return in_child(resize)


main(CAPABILITY, exercise)
