"""A process can become root."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import in_child, main

CAPABILITY = "identity_become_root"


def exercise():
    in_child(lambda: os.setuid(0))
    return "became user 0, in a child"


main(CAPABILITY, exercise)
