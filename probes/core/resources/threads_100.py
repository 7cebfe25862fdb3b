"""100 threads can run at once."""

import sys
import threading

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_threads_100"


def exercise():
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(100)]
    for thread in threads:
        thread.start()
    done.set()
    for thread in threads:
        thread.join()
    return "100 threads at once"


main(CAPABILITY, exercise)
