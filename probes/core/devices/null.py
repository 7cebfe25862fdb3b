"""/dev/null discards writes and reads as empty."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_null"


def exercise():
    with open("/dev/null", "r+b", buffering=0) as null:
        assert null.write(b"x") == 1
        assert null.read(1) == b""
    return "wrote to and read from /dev/null"


main(CAPABILITY, exercise)
