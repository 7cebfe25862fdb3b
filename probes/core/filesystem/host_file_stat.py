"""A file of the caller's that was never shared can be seen to exist."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "filesystem_host_file_stat"


def exercise():
    os.stat(witness("FILE"))
    return "saw a file outside the sandbox"


main(CAPABILITY, exercise)
