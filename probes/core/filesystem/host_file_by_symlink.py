"""A symbolic link of one's own leads to a file that was never shared."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch, witness

CAPABILITY = "filesystem_host_file_by_symlink"


def exercise():
    link = scratch("link")
    os.symlink(witness("FILE"), link)
    try:
        with open(link) as file:
            file.read()
    finally:
        os.unlink(link)
    return "read a file outside the sandbox through a link"


main(CAPABILITY, exercise)
