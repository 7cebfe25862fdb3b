"""A file of the caller's that was never shared can be read."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "filesystem_host_file_read"


def exercise():
    with open(witness("FILE")) as file:
        file.read()
    return "read a file outside the sandbox"


main(CAPABILITY, exercise)
