"""32 terminals can be open at once."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "terminal_many"


def exercise():
    ends = [os.openpty() for _ in range(32)]
    assert len({os.ttyname(slave) for _, slave in ends}) == 32
    return "opened 32 terminals"


main(CAPABILITY, exercise)
