"""The host's name can be learned."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main, witness

CAPABILITY = "identity_host_name"


def exercise():
    if os.uname().nodename != witness("HOSTNAME"):
        raise Blocked("another name is shown")
    return "the name is the host's"


main(CAPABILITY, exercise)
