"""/dev/urandom gives random bytes."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "devices_urandom"


def exercise():
    with open("/dev/urandom", "rb", buffering=0) as source:
        assert source.read(16) != source.read(16)
    return "two reads differ"


main(CAPABILITY, exercise)
