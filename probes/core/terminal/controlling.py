"""A program can be given a terminal that controls it (/dev/tty)."""

import fcntl
import os
import sys
import termios

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "terminal_controlling"


def take_terminal():
    master, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    os.write(os.open("/dev/tty", os.O_RDWR), b"ready")
    assert os.read(master, 16) == b"ready"
    return "wrote to /dev/tty"


def exercise():
    return in_child(take_terminal)


main(CAPABILITY, exercise)
