"""Keys can be typed into a terminal on the user's behalf (TIOCSTI)."""

import fcntl
import os
import pty
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_type_into"


def exercise():
    pid, master = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSTI, b"x")
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    error = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(master)
    if error:
        raise OSError(error, os.strerror(error))
    return "typed into its own terminal"


main(CAPABILITY, exercise)
