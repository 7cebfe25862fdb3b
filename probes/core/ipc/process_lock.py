"""Processes can share a lock, as Python's multiprocessing makes them (named semaphores)."""

import multiprocessing
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "ipc_process_lock"


def exercise():
    lock = multiprocessing.Lock()
    with lock:
        assert not lock.acquire(block=False)
    return "took a lock that processes share"


main(CAPABILITY, exercise)
