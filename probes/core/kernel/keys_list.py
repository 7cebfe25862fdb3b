"""The keys that the kernel keeps can be listed (/proc/keys)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "kernel_keys_list"


def exercise():
    with open("/proc/keys") as file:
        if not file.read():
            raise Blocked("no key is listed")
    return "listed keys"


main(CAPABILITY, exercise)
