"""A file can carry an extended attribute of the user's."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_xattr_user"


def exercise():
    path = scratch("attribute")
    open(path, "x").close()
    try:
        os.setxattr(path, "user.probe", b"value")
        assert os.getxattr(path, "user.probe") == b"value"
    finally:
        os.unlink(path)
    return "set and read user.probe"


main(CAPABILITY, exercise)
