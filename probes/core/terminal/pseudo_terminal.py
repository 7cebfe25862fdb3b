"""A new pseudo-terminal can be opened."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_pseudo_terminal"


def exercise():
    master, slave = os.openpty()
    os.write(master, b"hello\n")
    assert os.read(slave, 16) == b"hello\n"
    assert os.ttyname(slave).startswith("/dev/pts/")
    return "typed into a terminal of its own"


main(CAPABILITY, exercise)
