"""A file can be made in a directory of the caller's that was never shared."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch, witness

CAPABILITY = "filesystem_host_dir_write"


def exercise():
    path = f"{witness('DIR')}/{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return "made and removed a file outside the sandbox"


main(CAPABILITY, exercise)
