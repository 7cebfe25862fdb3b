"""The root directory of process 1, in /proc, leads to a file that was never shared."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, witness

CAPABILITY = "filesystem_host_file_by_proc_root"


def exercise():
    with open(f"/proc/1/root{witness('FILE')}") as file:
        file.read()
    return "read a file outside the sandbox through /proc/1/root"


main(CAPABILITY, exercise)
