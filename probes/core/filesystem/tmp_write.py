"""A file can be made, read back and removed in the temporary directory."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_tmp_write"


def exercise():
    path = scratch("tmp-write")
    with open(path, "x+") as file:
        file.write("capability")
        file.seek(0)
        assert file.read() == "capability"
    os.unlink(path)
    return f"wrote and removed a file in {os.path.dirname(path)}"


main(CAPABILITY, exercise)
