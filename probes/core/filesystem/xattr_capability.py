"""A file can be given capabilities, which whoever runs it would gain."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_xattr_capability"


def exercise():
    path = scratch("capability")
    open(path, "x").close()
    value = bytes.fromhex("0000000200040000000000000000000000000000")
    try:
        os.setxattr(path, "security.capability", value)
    finally:
        os.unlink(path)
    return "gave a file CAP_NET_BIND_SERVICE"


main(CAPABILITY, exercise)
