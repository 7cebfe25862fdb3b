"""A file stays readable and writable after its last name is gone."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_deleted_file_use"


def exercise():
    path = scratch("gone")
    with open(path, "x+b") as file:
        os.unlink(path)
        file.write(b"still here")
        file.seek(0)
        assert file.read() == b"still here"
        assert os.fstat(file.fileno()).st_nlink == 0
    return "used a file without a name"


main(CAPABILITY, exercise)
