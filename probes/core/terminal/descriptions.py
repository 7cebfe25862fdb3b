"""Terminals of common types are described (terminfo), as full-screen programs need."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, Unavailable, main

CAPABILITY = "terminal_descriptions"


def exercise():
    try:
        import curses
    except ImportError as error:
        raise Unavailable(f"Python without curses: {error}") from error
    try:
        curses.setupterm("xterm-256color", os.open("/dev/null", os.O_WRONLY))
    except curses.error as error:
        raise Blocked(f"xterm-256color: {error}", "ENOENT") from error
    assert curses.tigetnum("colors") == 256
    return "xterm-256color has 256 colours"


main(CAPABILITY, exercise)
