"""Python's extensions in C load: TLS, SQLite, compression, decimals, XML."""

import importlib
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import Blocked, main

CAPABILITY = "interpreters_python_extensions"
NAMES = ("_bz2", "_ctypes", "_decimal", "_hashlib", "_lzma", "_sqlite3", "_ssl", "pyexpat", "zlib")


def exercise():
    for name in NAMES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise Blocked(f"{name}: {error}") from error
    import hashlib
    import zlib

    assert zlib.decompress(zlib.compress(b"x")) == b"x"
    assert hashlib.sha256(b"").hexdigest().startswith("e3b0c442")
    return "nine extensions load"


main(CAPABILITY, exercise)
