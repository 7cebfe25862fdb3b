"""A file can be made without a name and given one when it is whole (O_TMPFILE)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_tmpfile"


def exercise():
    path = scratch("named")
    file = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_WRONLY, 0o600)
    os.link(f"/proc/self/fd/{file}", path, follow_symlinks=True)
    os.close(file)
    os.unlink(path)
    return "made a file without a name, then named it"


main(CAPABILITY, exercise)
