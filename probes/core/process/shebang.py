"""The kernel runs a script by its first line."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "process_shebang"


def exercise():
    path = scratch("script")
    with open(path, "x") as file:
        file.write("#!/usr/bin/env sh\nexit 7\n")
    os.chmod(path, 0o755)
    try:
        pid = os.posix_spawn(path, [path], {"PATH": "/usr/bin:/bin"})
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    finally:
        os.unlink(path)
    return "ran a script with /usr/bin/env"


main(CAPABILITY, exercise)
