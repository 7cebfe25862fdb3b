#!/usr/bin/env python3
"""Notes that last: add, list, search, remove. Kept in SQLite in STATE_DIR."""

import argparse
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

SCHEMA = (
    "create table if not exists note (id integer primary key autoincrement, text text, tag text)"
)


def opened():
    place = Path(os.environ.get("STATE_DIR", "."))
    base = sqlite3.connect(place / "notebook.sqlite", timeout=10)
    base.execute(SCHEMA)
    return base


def show(rows):
    for number, text, tag in rows:
        print(f"{number}. {text}" + (f"  [{tag}]" if tag else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add")
    add.add_argument("text")
    add.add_argument("--tag")
    listing = commands.add_parser("list")
    listing.add_argument("--tag")
    commands.add_parser("search").add_argument("word")
    commands.add_parser("remove").add_argument("id", type=int)
    args = parser.parse_args()
    with closing(opened()) as base, base:
        if args.command == "add":
            done = base.execute("insert into note (text, tag) values (?, ?)", (args.text, args.tag))
            print(f"note {done.lastrowid}")
        elif args.command == "list":
            query = "select id, text, tag from note where ?1 is null or tag = ?1 order by id"
            show(base.execute(query, (args.tag,)))
        elif args.command == "search":
            query = "select id, text, tag from note where instr(lower(text), lower(?)) order by id"
            found = base.execute(query, (args.word,)).fetchall()
            show(found)
            return 0 if found else 1
        elif base.execute("delete from note where id = ?", (args.id,)).rowcount == 0:
            print(f"there is no note {args.id}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
