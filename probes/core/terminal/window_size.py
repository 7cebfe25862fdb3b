"""A terminal tells its programs when it is resized (SIGWINCH)."""

import fcntl
import os
import pty
import signal
import struct
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "terminal_window_size"


def exercise():
    pid, master = pty.fork()
    if pid == 0:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
        os.write(1, b"ready\n")
        told = signal.sigtimedwait({signal.SIGWINCH}, 5)
        os._exit(os.get_terminal_size(0).columns if told else 1)
    os.read(master, 16)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("4H", 30, 77, 0, 0))
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 77:
        raise Blocked("the child was not told")
    return "a child was told of 77 columns"


main(CAPABILITY, exercise)
