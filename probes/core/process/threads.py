"""Threads can be started and joined."""

import sys
import threading

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "process_threads"


def exercise():
    results = []
    threads = [threading.Thread(target=results.append, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(16))
    return "16 threads gave their results"


main(CAPABILITY, exercise)
