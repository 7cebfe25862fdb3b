"""A directory with a thousand files lists them all."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_many_entries"


def exercise():
    directory = scratch("many")
    os.mkdir(directory)
    names = {f"entry-{number:04}" for number in range(1000)}
    for name in names:
        os.close(os.open(f"{directory}/{name}", os.O_CREAT | os.O_WRONLY))
    assert set(os.listdir(directory)) == names
    for name in names:
        os.unlink(f"{directory}/{name}")
    os.rmdir(directory)
    return "made, listed and removed 1,000 files"


main(CAPABILITY, exercise)
