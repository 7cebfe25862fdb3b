"""A call can go 4 MiB deep."""

import sys
import threading

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "resources_deep_stack"


def exercise():
    threading.stack_size(64 << 20)
    depth = []
    thread = threading.Thread(target=lambda: depth.append(descend(900)))
    thread.start()
    thread.join()
    assert depth == [900]
    return "a thread with a stack of 64 MiB"


def descend(left):
    return 0 if left == 0 else 1 + descend(left - 1)


main(CAPABILITY, exercise)
