"""The connections of other programs can be listed (/proc/net)."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, witness

CAPABILITY = "network_foreign_sockets"


def exercise():
    port = f":{int(witness('PORT')):04X} "
    with open("/proc/net/tcp") as file:
        if port not in file.read():
            raise Blocked("the host's sockets are not listed")
    return "saw a socket of the host's"


main(CAPABILITY, exercise)
