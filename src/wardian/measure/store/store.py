"""The store: one SQLite file. Each result is written at once, in one transaction."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import sqlite3
import threading
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from wardian.errors import InputError
from wardian.homes import own_directory
from wardian.measure.case import Case
from wardian.measure.outcome import Outcome, health
from wardian.measure.store import schema
from wardian.measure.store.model import Campaign, Figure, Finding
from wardian.measure.store.reading import StoreReader
from wardian.measure.store.rows import as_json, case_id_of, outcome_id_of

WAIT_S = 60.0  # for other writers
MAX_SOURCE_BYTES = 1 << 20


_NEWEST = """
    SELECT r.campaign_id, c.kind, o.status FROM results r INDEXED BY results_by_key
    CROSS JOIN cases c ON c.id = r.case_id CROSS JOIN outcomes o ON o.id = r.outcome_id
    WHERE r.key = ?1 AND r.campaign_id = (
        SELECT max(campaign_id) FROM results INDEXED BY results_by_key
        WHERE key = ?1 AND campaign_id != ?2)
"""
_TAKE_OVER = """
    INSERT INTO results SELECT ?1, case_id, outcome_id, duration_s, time, key, measured_in
    FROM results INDEXED BY results_by_key WHERE key = ?2 AND campaign_id = ?3
    ON CONFLICT DO NOTHING
"""


def _again(kind: str, status: str) -> bool:
    how = health(status)
    return how == "broken" or (how == "bad" and kind != "suite")


def default_path() -> str:
    """The user's own store."""
    return os.path.join(own_directory("state"), "store.sqlite")


def now() -> str:
    """UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


class Write(NamedTuple):
    """A result to be written. ``measured_in`` is empty where this campaign measured it."""

    case: Case
    outcome: Outcome
    duration_s: float = 0.0
    time: str = ""
    key: str = ""
    measured_in: str = ""
    depends: Mapping[str, str] = {}


def key_of(depends: Mapping[str, str]) -> str:
    """Names all that a result depends on."""
    return hashlib.sha256(as_json(depends).encode()).hexdigest()[:32]


class Store(StoreReader):
    """A store that can be read and written, by several threads and processes at once.

    ``with Store.open(path) as store: …``. A process that dies leaves what it had written.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: str | None = None, *, create: bool = True) -> Store:
        """The store at ``path``, made if it is not there and ``create``, brought to this version.

        Raises InputError if the file is none of ours, of a later version, or can't be used.
        """
        place = os.path.abspath(path or default_path())
        if not create and not os.path.exists(place):
            raise InputError(
                "there is no store", path=place, hint="wardian nightly makes one; or --store PATH"
            )
        try:
            if create:
                os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            connection = sqlite3.connect(
                place, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"the store can't be opened: {error}", path=place) from None
        try:
            schema.prepare(connection, place)
        except BaseException:
            connection.close()
            raise
        return cls(place, connection)

    def close(self) -> None:
        """Nothing is lost if it is not called."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: everything in it is there afterwards, or nothing."""
        with self._store_errors(), self._lock:
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def compact(self) -> None:
        """Give back the room of what is gone; others who read meanwhile may prevent it."""
        with self._lock, contextlib.suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # Campaigns

    def begin(self, campaign: Campaign) -> Campaign:
        """A new campaign; id, uid and time are given to it where they are empty."""
        one = campaign._replace(
            uid=campaign.uid or uuid.uuid4().hex, started=campaign.started or now()
        )
        fields = one._asdict() | {"versions": as_json(one.versions)}
        del fields["id"]
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        with self.writing() as connection:
            done = connection.execute(
                f"INSERT INTO campaigns ({names}) VALUES ({marks})",  # noqa: S608
                tuple(fields.values()),
            )
        return one._replace(id=int(done.lastrowid or 0))

    def continued(self, campaign_id: int, owner: str) -> None:
        """A campaign that was broken off goes on."""
        with self.writing() as connection:
            connection.execute(
                "UPDATE campaigns SET state = 'running', ended = '', owner = ? WHERE id = ?",
                (owner, campaign_id),
            )

    def finish(self, campaign_id: int, state: str = "finished", ended: str = "") -> None:
        """The end of a campaign."""
        with self.writing() as connection:
            connection.execute(
                "UPDATE campaigns SET state = ?, ended = ? WHERE id = ?",
                (state, ended or now(), campaign_id),
            )

    def step(self, campaign_id: int, name: str, **fields: Any) -> None:
        """Begin a step, or say how far it is: state, total, done, reused, ended, document."""
        if "document" in fields:
            fields["document"] = as_json(fields["document"])
        first = {"state": "running", "started": now(), "document": "{}"} | fields
        names = ("campaign_id", "name", *first)
        changes = ", ".join(f"{key} = excluded.{key}" for key in fields) or "name = excluded.name"
        with self.writing() as connection:
            connection.execute(
                f"INSERT INTO steps ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "  # noqa: S608
                f"ON CONFLICT (campaign_id, name) DO UPDATE SET {changes}",
                (campaign_id, name, *first.values()),
            )

    # Results

    def record(self, campaign: Campaign, writes: Iterable[Write]) -> None:
        """Results, in one transaction. One that is there already stays: nothing counts twice."""
        with self.writing() as connection:
            for one in writes:
                case_id = case_id_of(connection, one.case)
                outcome_id = outcome_id_of(connection, one.outcome)
                if one.depends:
                    connection.execute(
                        "INSERT INTO dependencies VALUES (?, ?) ON CONFLICT DO NOTHING",
                        (one.key, as_json(one.depends)),
                    )
                rest = (one.duration_s, one.time or now(), one.key, one.measured_in or campaign.uid)
                connection.execute(
                    "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (campaign.id, case_id, outcome_id, *rest),
                )

    def reuse(self, campaign: Campaign, keys: Iterable[str]) -> dict[str, int]:
        """Take over the newest results with these keys from earlier campaigns; how many of each.

        Results without an outcome are not reused, nor those of a probe or a skill's case that were
        not as they should be: these are measured again.
        """
        taken = {}
        with self.writing() as connection:
            for key in keys:
                found = connection.execute(_NEWEST, (key, campaign.id)).fetchall()
                if not found or any(_again(kind, status) for _, kind, status in found):
                    continue
                connection.execute(_TAKE_OVER, (campaign.id, key, found[0][0]))
                taken[key] = len(found)
        return taken

    def forget(self, campaign_id: int, keys: Iterable[str]) -> None:
        """Results of a campaign that no longer hold: something changed since they were written."""
        with self.writing() as connection:
            connection.executemany(
                "DELETE FROM results WHERE campaign_id = ? AND key = ?",
                [(campaign_id, key) for key in keys],
            )

    def keep_sources(self, digest: str, files: Mapping[str, str]) -> None:
        """Files that results depend on, so that a later change can be shown and reverted."""
        data = zlib.compress(as_json(files).encode())
        if len(data) <= MAX_SOURCE_BYTES:
            with self.writing() as connection:
                connection.execute(
                    "INSERT INTO sources VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, data)
                )

    def record_figures(self, campaign_id: int, figures: Iterable[Figure]) -> None:
        """Figures of a campaign; one that is there already gets its new value."""
        with self.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?, ?, ?)",
                [one._replace(campaign_id=campaign_id) for one in figures],
            )

    def record_findings(self, campaign_id: int, findings: Iterable[Finding]) -> None:
        """The findings of a campaign, in place of those it had."""
        with self.writing() as connection:
            connection.execute("DELETE FROM findings WHERE campaign_id = ?", (campaign_id,))
            connection.executemany(
                "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?)",
                [(campaign_id, *one[1:-1], as_json(one.document)) for one in findings],
            )
