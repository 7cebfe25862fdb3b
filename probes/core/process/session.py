"""A child can start a session of its own (setsid), as daemons do."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "process_session"


def start():
    os.setsid()
    assert os.getsid(0) == os.getpid()
    return "started a session"


def exercise():
    return in_child(start)


main(CAPABILITY, exercise)
