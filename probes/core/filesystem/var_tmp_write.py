"""A file can be made in /var/tmp, where programs put what should outlast /tmp."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_var_tmp_write"


def exercise():
    path = f"/var/tmp/{os.path.basename(scratch())}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return "made and removed a file in /var/tmp"


main(CAPABILITY, exercise)
