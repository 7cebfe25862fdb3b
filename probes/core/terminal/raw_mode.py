"""A terminal can be read key by key."""

import os
import sys
import termios
import tty

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_raw_mode"


def exercise():
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
    except termios.error as error:  # which is no OSError
        raise OSError(*error.args) from error
    os.write(master, b"\x03")
    assert os.read(slave, 1) == b"\x03"
    return "read Ctrl-C as a key"


main(CAPABILITY, exercise)
