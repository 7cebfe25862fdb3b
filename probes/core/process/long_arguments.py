"""A program can be given 100 KB in one argument and 1 MB in all."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_long_arguments"


def exercise():
    words = ["true", *["x" * 100_000] * 10]
    pid = os.posix_spawn("/bin/true", words, {})
    assert os.waitpid(pid, 0)[1] == 0
    return "passed 1 MB of arguments"


main(CAPABILITY, exercise)
