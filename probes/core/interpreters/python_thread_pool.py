"""Python's pool of threads works."""

import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_thread_pool"


def exercise():
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(abs, [-1, -2, -3])) == [1, 2, 3]
    return "a pool of four threads worked"


main(CAPABILITY, exercise)
