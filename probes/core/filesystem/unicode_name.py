"""Unicode file names are kept byte for byte."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_unicode_name"


def exercise():
    path = scratch("naïve-植物-🌱").encode()
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    assert os.path.basename(path) in os.listdir(os.path.dirname(path))
    os.unlink(path)
    return "made and listed a file with a Unicode name"


main(CAPABILITY, exercise)
