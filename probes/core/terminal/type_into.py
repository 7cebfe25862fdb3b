"""Keys can be typed into a terminal on the user's behalf (TIOCSTI)."""

import fcntl
import os
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "terminal_type_into"


def type_key():
    _, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    return "typed into its own terminal"


def exercise():
    return in_child(type_key)


main(CAPABILITY, exercise)
