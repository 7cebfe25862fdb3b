"""The machine's unique ID can be read (/etc/machine-id)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "identity_machine_id"


def exercise():
    with open("/etc/machine-id") as file:
        if not file.read().strip():
            raise Blocked("/etc/machine-id is empty")
    return "read /etc/machine-id"


main(CAPABILITY, exercise)
