"""A file of the caller's that was never shared can be opened for writing."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "filesystem_host_file_write"


def exercise():
    os.close(os.open(witness("FILE"), os.O_WRONLY | os.O_APPEND))
    return "opened a file outside the sandbox for writing"


main(CAPABILITY, exercise)
