"""Python's multiprocessing pool works, with its queues and locks."""

import multiprocessing
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_multiprocessing"


def exercise():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2, -3]) == [1, 2, 3]
    return "a pool of two processes worked"


main(CAPABILITY, exercise)
