"""The hashes of the machine's passwords can be read."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "filesystem_shadow_read"


def exercise():
    with open("/etc/shadow") as file:
        if not file.read(1):
            raise Blocked("/etc/shadow is empty")
    return "read /etc/shadow"


main(CAPABILITY, exercise)
