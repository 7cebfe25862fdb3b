"""Set-user-ID programs grant their owner's rights (no_new_privs is off)."""

import ctypes
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_gain_by_program"


def exercise():
    if ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 1:  # PR_GET_NO_NEW_PRIVS
        raise Blocked("no_new_privs is set", "EPERM")
    return "no_new_privs is not set"


main(CAPABILITY, exercise)
