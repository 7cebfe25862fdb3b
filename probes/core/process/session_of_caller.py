"""The process shares a session, and so a terminal, with whoever started the sandbox."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "process_session_of_caller"


def exercise():
    leader = os.getsid(0)
    if leader in (1, os.getpid()):
        raise Blocked("the session was started inside")
    return "the session was started by another process"


main(CAPABILITY, exercise)
