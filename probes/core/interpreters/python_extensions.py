"""Python's extensions in C load: TLS, SQLite, compression, decimals, XML."""

import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_extensions"


def exercise():
    import bz2
    import ctypes
    import decimal
    import hashlib
    import lzma
    import sqlite3
    import ssl
    import xml.parsers.expat
    import zlib

    assert zlib.decompress(zlib.compress(b"x")) == bz2.decompress(bz2.compress(b"x")) == b"x"
    assert hashlib.sha256(b"").hexdigest().startswith("e3b0c442")
    assert lzma.decompress(lzma.compress(b"x")) == b"x"
    assert ssl.OPENSSL_VERSION
    assert sqlite3.sqlite_version
    assert xml.parsers.expat.EXPAT_VERSION
    assert decimal.Decimal("0.1") * 3 == decimal.Decimal("0.3")
    assert ctypes.sizeof(ctypes.c_int) == 4
    return "nine extensions work"


main(CAPABILITY, exercise)
