"""A process can become another user."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "identity_become_other"


def exercise():
    in_child(lambda: os.setresuid(65534, 65534, 65534))
    return "became user 65534, in a child"


main(CAPABILITY, exercise)
