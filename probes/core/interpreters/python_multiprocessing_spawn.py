"""Python's multiprocessing works with interpreters started anew, as programs with threads need."""

import multiprocessing
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_multiprocessing_spawn"


def exercise():
    del sys.modules["__main__"].__file__  # or the child would run this specimen again
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    return "a fresh interpreter worked"


main(CAPABILITY, exercise)
