"""Appending by two descriptors loses nothing (O_APPEND)."""

import os
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "filesystem_append_atomic"


def exercise():
    path = scratch("log")
    flags = os.O_WRONLY | os.O_APPEND
    first = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    second = os.open(path, flags)
    for _ in range(10):
        os.write(first, b"one\n")
        os.write(second, b"two\n")
    with open(path, "rb") as file:
        assert file.read() == b"one\ntwo\n" * 10
    os.unlink(path)
    return "20 lines by two descriptors, all there"


main(CAPABILITY, exercise)
