"""Python can keep a database in a file, with a journal and two connections."""

import os
import sqlite3
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main, scratch

CAPABILITY = "interpreters_python_sqlite"


def exercise():
    path = scratch("database")
    try:
        first, second = sqlite3.connect(path), sqlite3.connect(path)
        first.execute("pragma journal_mode = wal")
        first.execute("create table plants (name text)")
        with first:
            first.execute("insert into plants values ('fern')")
        assert second.execute("select name from plants").fetchone() == ("fern",)
        first.close()
        second.close()
    finally:
        for name in (path, f"{path}-wal", f"{path}-shm"):
            if os.path.exists(name):
                os.unlink(name)
    return "one connection wrote, another read"


main(CAPABILITY, exercise)
