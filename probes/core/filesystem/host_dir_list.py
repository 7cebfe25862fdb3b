"""A directory of the caller's that was never shared can be listed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "filesystem_host_dir_list"


def exercise():
    os.listdir(witness("DIR"))
    return "listed a directory outside the sandbox"


main(CAPABILITY, exercise)
