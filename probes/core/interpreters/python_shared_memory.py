"""Python processes can share memory by name (multiprocessing.shared_memory)."""

import sys
from multiprocessing import shared_memory

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_shared_memory"


def exercise():
    first = shared_memory.SharedMemory(create=True, size=4096)
    try:
        second = shared_memory.SharedMemory(first.name)
        first.buf[0] = 42
        assert second.buf[0] == 42
        second.close()
    finally:
        first.close()
        first.unlink()
    return "shared 4,096 bytes"


main(CAPABILITY, exercise)
