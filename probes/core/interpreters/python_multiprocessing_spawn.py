"""Python's multiprocessing works with interpreters started anew, as with threads it must."""

import multiprocessing
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_multiprocessing_spawn"


def exercise():
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    child = context.Process(target=print, kwargs={"end": ""})
    child.start()
    child.join(15)
    queue.put(1)
    assert child.exitcode == 0 and queue.get() == 1
    return "a fresh interpreter worked"


main(CAPABILITY, exercise)
