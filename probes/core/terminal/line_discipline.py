"""A terminal's line discipline can be set (TIOCSETD), here to its current one."""

import fcntl
import os
import struct
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_line_discipline"


def exercise():
    _, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSETD, struct.pack("i", 0))
    return "set the line discipline to N_TTY"


main(CAPABILITY, exercise)
