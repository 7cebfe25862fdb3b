"""Python's temporary files and directories work."""

import os
import sys
import tempfile

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_temporary_files"


def exercise():
    with (
        tempfile.TemporaryDirectory() as directory,
        tempfile.NamedTemporaryFile(dir=directory) as file,
    ):
        file.write(b"x")
        file.flush()
        assert os.path.getsize(file.name) == 1
    assert not os.path.exists(directory)
    return "made and removed a temporary directory"


main(CAPABILITY, exercise)
