"""The standard streams have names, as shell scripts expect (/dev/stdout, /dev/fd)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_standard_streams"


def exercise():
    read, write = os.pipe()
    with open(f"/dev/fd/{write}", "wb", buffering=0) as stream:
        stream.write(b"x")
    assert os.read(read, 1) == b"x"
    for name in ("stdin", "stdout", "stderr"):
        os.lstat(f"/dev/{name}")
    return "wrote to a pipe by its name in /dev/fd"


main(CAPABILITY, exercise)
