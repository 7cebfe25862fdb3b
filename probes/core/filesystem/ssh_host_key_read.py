"""The machine's private SSH host keys can be read."""

import glob
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "filesystem_ssh_host_key_read"


def exercise():
    keys = glob.glob("/etc/ssh/ssh_host_*_key")
    if not keys:
        raise Blocked("there are no keys", "ENOENT")
    with open(keys[0]) as file:
        file.read()
    return "read a key of the machine's"


main(CAPABILITY, exercise)
