"""The system's programs can be read and listed."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "filesystem_usr_read"


def exercise():
    assert os.listdir("/usr/bin")
    with open("/usr/bin/env", "rb") as file:
        assert file.read(4) == b"\x7fELF"
    return "listed /usr/bin and read /usr/bin/env"


main(CAPABILITY, exercise)
