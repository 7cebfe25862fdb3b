"""Python's multiprocessing has its locks, which need named semaphores."""

import multiprocessing
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_semaphores_for_python"


def exercise():
    lock = multiprocessing.Lock()
    with lock:
        assert not lock.acquire(block=False)
    return "took a lock that processes share"


main(CAPABILITY, exercise)
