"""A program can be given a terminal that controls it (/dev/tty)."""

import os
import pty
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_controlling"


def exercise():
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.write(os.open("/dev/tty", os.O_RDWR), b"ready")
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    text = os.read(master, 16)
    error = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if error:
        raise OSError(error, os.strerror(error))
    assert text == b"ready"
    return "a child wrote to /dev/tty"


main(CAPABILITY, exercise)
