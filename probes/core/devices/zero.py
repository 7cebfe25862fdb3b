"""/dev/zero gives zeros, and can be mapped."""

import mmap
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_zero"


def exercise():
    with open("/dev/zero", "r+b", buffering=0) as zero:
        assert zero.read(4) == bytes(4)
        with mmap.mmap(zero.fileno(), 4096) as room:
            assert room[:4] == bytes(4)
    return "read and mapped zeros"


main(CAPABILITY, exercise)
