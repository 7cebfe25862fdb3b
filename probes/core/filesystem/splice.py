"""Data can pass from a file into a pipe without being read (splice)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_splice"


def exercise():
    read, write = os.pipe()
    with open("/usr/bin/env", "rb") as file:
        assert os.splice(file.fileno(), write, 4) == 4
    assert os.read(read, 4) == b"\x7fELF"
    return "spliced from a file into a pipe"


main(CAPABILITY, exercise)
