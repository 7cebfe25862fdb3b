"""The tables of the store, and how a store of an earlier version becomes one of this.

docs/reference/store.md describes them. A migration is only ever added: stores are made by them all,
in their order, so an old store and a new one are the same.
"""

from __future__ import annotations

import sqlite3

from wardian.errors import InputError

APPLICATION_ID = 0x7772646E  # "wrdn"

_FIRST = (
    """CREATE TABLE campaigns (
        id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        night TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL,
        host TEXT NOT NULL,
        kernel TEXT NOT NULL,
        machine TEXT NOT NULL,
        user_id INTEGER NOT NULL,
        wardian TEXT NOT NULL,
        wardian_digest TEXT NOT NULL,
        policy TEXT NOT NULL,
        policy_digest TEXT NOT NULL,
        config_digest TEXT NOT NULL,
        versions TEXT NOT NULL,
        shard TEXT NOT NULL DEFAULT '',
        owner TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    "CREATE INDEX campaigns_by_time ON campaigns (started)",
    """CREATE TABLE cases (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        sandbox TEXT NOT NULL,
        "group" TEXT NOT NULL,
        capability TEXT NOT NULL,
        about TEXT NOT NULL,
        UNIQUE (kind, name, sandbox)
    ) STRICT""",
    """CREATE TABLE outcomes (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL,
        cause TEXT NOT NULL,
        detail TEXT NOT NULL,
        errno TEXT,
        observed TEXT,
        evidence TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE results (
        campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
        case_id INTEGER NOT NULL REFERENCES cases (id),
        outcome_id INTEGER NOT NULL REFERENCES outcomes (id),
        duration_s REAL NOT NULL,
        time TEXT NOT NULL,
        key TEXT NOT NULL,
        measured_in TEXT NOT NULL,
        PRIMARY KEY (campaign_id, case_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX results_by_case ON results (case_id, campaign_id)",
    "CREATE INDEX results_by_outcome ON results (outcome_id)",
    """CREATE TABLE figures (
        campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        sandbox TEXT NOT NULL,
        value REAL NOT NULL,
        unit TEXT NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY (campaign_id, name, sandbox)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE findings (
        campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
        slug TEXT NOT NULL,
        severity TEXT NOT NULL,
        title TEXT NOT NULL,
        cause TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (campaign_id, slug)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE steps (
        campaign_id INTEGER NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT NOT NULL DEFAULT '',
        total INTEGER NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0,
        reused INTEGER NOT NULL DEFAULT 0,
        document TEXT NOT NULL,
        PRIMARY KEY (campaign_id, name)
    ) STRICT, WITHOUT ROWID""",
)

_SECOND = (
    """CREATE TABLE dependencies (
        key TEXT PRIMARY KEY,
        document TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX results_by_key ON results (key, campaign_id)",
    """CREATE TABLE sources (
        digest TEXT PRIMARY KEY,
        files BLOB NOT NULL
    ) STRICT, WITHOUT ROWID""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND)
VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """0 for a store that has nothing yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring it to this version in one transaction; another process may be doing the same."""
    if version_of(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[version_of(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Ready to be used, with the tables of this version. Raises InputError if it is none of ours,
    of a later version, or broken."""
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application != APPLICATION_ID and (application or tables):
            raise InputError("is a database of another program", path=path)
        version = version_of(connection)
        if version > VERSION:
            raise InputError(
                f"is a store of version {version}; this wardian knows up to {VERSION}",
                path=path,
                hint="use the wardian that wrote it, or a later one",
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
    except sqlite3.DatabaseError as error:
        what = "is no store" if "not a database" in str(error) else f"can't be used: {error}"
        raise InputError(what, path=path) from None
