"""Queries: campaigns, results, timelines, figures, findings. Nothing is written."""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wardian.errors import InputError, NothingMatched
from wardian.measure.case import Case
from wardian.measure.outcome import Outcome
from wardian.measure.store.model import Campaign, Figure, Finding, Measurement, Moment, Step

_RESULTS = """
    SELECT r.campaign_id, c.kind, c.name, c.sandbox, c."group", c.capability, c.about, c.id,
           o.status, o.cause, o.detail, o.errno, o.observed, {evidence}, r.outcome_id,
           r.duration_s, r.time, r.key, r.measured_in
    FROM results r JOIN cases c ON c.id = r.case_id JOIN outcomes o ON o.id = r.outcome_id
"""
_CAMPAIGN = ", ".join(Campaign._fields)


class StoreReader:
    """The queries of a store. Safe to use from several threads."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._store_errors(), self._lock:
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        """What SQLite says of a file that is broken becomes an error about that file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(f"the store can't be used: {error}", path=self.path) from error

    def version(self) -> int:
        """Another number after anything was written, by this process or another."""
        written = self._rows("SELECT total_changes()")[0][0]
        return int(self._rows("PRAGMA data_version")[0][0]) * 1_000_000_000 + int(written)

    # Campaigns

    def campaigns(
        self, *, kind: str | None = None, states: Sequence[str] = (), limit: int | None = None
    ) -> list[Campaign]:
        """Oldest first; with ``limit`` the newest so many."""
        where, values = ["1"], []
        if kind is not None:
            where.append("kind = ?")
            values.append(kind)
        if states:
            where.append(f"state IN ({', '.join('?' * len(states))})")
            values += states
        query = f"SELECT {_CAMPAIGN} FROM campaigns WHERE {' AND '.join(where)}"  # noqa: S608
        rows = self._rows(f"{query} ORDER BY started DESC, id DESC LIMIT ?", (*values, limit or -1))
        return [_campaign(row) for row in reversed(rows)]

    def campaign(self, name: str | int = "last") -> Campaign:
        """By id, uid (or how it begins), night, or ``last``. Raises NothingMatched."""
        if name == "last":
            rows = self._rows(
                f"SELECT {_CAMPAIGN} FROM campaigns ORDER BY started DESC, id DESC LIMIT 1"  # noqa: S608
            )
        else:
            rows = self._rows(
                f"SELECT {_CAMPAIGN} FROM campaigns WHERE id = ?1 OR uid = ?1 OR night = ?1 "  # noqa: S608
                "OR (length(?1) >= 6 AND substr(uid, 1, length(?1)) = ?1) "
                "ORDER BY started DESC, id DESC LIMIT 1",
                (name,),
            )
        if not rows:
            what = "no campaign" if name == "last" else f"no campaign {name!r}"
            raise NothingMatched(f"{self.path}: there is {what}", hint="see: wardian history")
        return _campaign(rows[0])

    def steps(self, campaign_id: int) -> list[Step]:
        """In the order in which they began."""
        rows = self._rows(
            f"SELECT {', '.join(Step._fields)} FROM steps WHERE campaign_id = ? ORDER BY started",  # noqa: S608
            (campaign_id,),
        )
        return [Step._make((*row[:-1], json.loads(row[-1]))) for row in rows]

    # Cases and results

    def cases(self, *, kind: str | None = None, sandbox: str | None = None) -> list[Case]:
        """All that were ever asked, by kind, name and sandbox."""
        rows = self._rows(
            'SELECT kind, name, sandbox, "group", capability, about, id FROM cases '
            "WHERE kind = coalesce(?, kind) AND sandbox = coalesce(?, sandbox) "
            "ORDER BY kind, name, sandbox",
            (kind, sandbox),
        )
        return [_case(row) for row in rows]

    def results(
        self,
        campaign_id: int,
        *,
        kind: str | None = None,
        sandbox: str | None = None,
        evidence: bool = False,
    ) -> list[Measurement]:
        """By kind, name and sandbox. Evidence is large, and left out unless asked for."""
        query = _RESULTS.format(evidence="o.evidence" if evidence else "'{}'")
        rows = self._rows(
            f"{query} WHERE r.campaign_id = ? AND c.kind = coalesce(?, c.kind) "
            "AND c.sandbox = coalesce(?, c.sandbox) ORDER BY c.kind, c.name, c.sandbox",
            (campaign_id, kind, sandbox),
        )
        return [_result(row) for row in rows]

    def result(self, campaign_id: int, identity: tuple[str, str, str]) -> Measurement | None:
        """One result with its evidence."""
        rows = self._rows(
            _RESULTS.format(evidence="o.evidence")
            + "WHERE r.campaign_id = ? AND c.kind = ? AND c.name = ? AND c.sandbox = ?",
            (campaign_id, *identity),
        )
        return _result(rows[0]) if rows else None

    def evidence(self, outcome_id: int) -> dict[str, Any]:
        """What an outcome rests on."""
        rows = self._rows("SELECT evidence FROM outcomes WHERE id = ?", (outcome_id,))
        return dict(json.loads(rows[0][0])) if rows else {}

    def dependencies(self, keys: Iterable[str]) -> dict[str, dict[str, str]]:
        """Key → all that a result with this key depends on, where that was kept."""
        found = {}
        for key in dict.fromkeys(keys):
            for row in self._rows("SELECT document FROM dependencies WHERE key = ?", (key,)):
                found[key] = dict(json.loads(row[0]))
        return found

    def sources(self, digest: str) -> dict[str, str] | None:
        """The files that have this digest together, path → text, where they were kept."""
        rows = self._rows("SELECT files FROM sources WHERE digest = ?", (digest,))
        return dict(json.loads(zlib.decompress(rows[0][0]))) if rows else None

    def source_digests(self) -> list[str]:
        """Of all files that were kept."""
        return [row[0] for row in self._rows("SELECT digest FROM sources ORDER BY digest")]

    def timeline(self, case_id: int) -> list[Moment]:
        """All results of a case, oldest campaign first."""
        return self.timelines(case_ids=[case_id]).get(case_id, [])

    def timelines(
        self, *, kind: str | None = None, case_ids: Sequence[int] = ()
    ) -> dict[int, list[Moment]]:
        """Case → its results, oldest campaign first: of all cases, of a kind, or of these."""
        chosen = f"AND r.case_id IN ({', '.join(str(int(one)) for one in case_ids)})"
        query = f"""
            SELECT r.case_id, r.campaign_id, r.outcome_id, o.status, o.observed, o.errno, r.time,
                   r.key
            FROM results r JOIN cases c ON c.id = r.case_id JOIN outcomes o ON o.id = r.outcome_id
                 JOIN campaigns n ON n.id = r.campaign_id
            WHERE c.kind = coalesce(?, c.kind) {chosen if case_ids else ""}
            ORDER BY r.case_id, n.started, n.id"""  # noqa: S608 - only numbers enter
        found: dict[int, list[Moment]] = {}
        for row in self._rows(query, (kind,)):
            found.setdefault(row[0], []).append(Moment(*row[1:]))
        return found

    def lines(self, campaigns: Sequence[Campaign]) -> dict[int, list[str | None]]:
        """Case → its status in each of these campaigns, None where it has none. For many nights
        much faster than ``timelines``."""
        places = {one.id: place for place, one in enumerate(campaigns)}
        query = "SELECT case_id, outcome_id FROM results WHERE campaign_id = ?"
        results = [(place, self._rows(query, (one,))) for one, place in places.items()]
        # Read after them: a campaign that runs adds outcomes meanwhile.
        statuses = dict(self._rows("SELECT id, status FROM outcomes"))
        found: dict[int, list[str | None]] = {}
        for place, rows in results:
            for case_id, outcome_id in rows:
                line = found.get(case_id)
                if line is None:
                    line = found[case_id] = [None] * len(places)
                line[place] = statuses[outcome_id]
        return found

    # Figures and findings

    def figures(self, campaign_id: int | None = None, name: str | None = None) -> list[Figure]:
        """Of a campaign, or of all; by name if given. Oldest campaign first."""
        rows = self._rows(
            "SELECT f.campaign_id, f.name, f.sandbox, f.value, f.unit, f.evidence FROM figures f "
            "JOIN campaigns c ON c.id = f.campaign_id WHERE f.campaign_id = "
            "coalesce(?, f.campaign_id) AND f.name = coalesce(?, f.name) "
            "ORDER BY c.started, c.id, f.name, f.sandbox",
            (campaign_id, name),
        )
        return [Figure(*row) for row in rows]

    def findings(self, campaign_id: int) -> list[Finding]:
        """The worst first."""
        rows = self._rows(
            f"SELECT {', '.join(Finding._fields)} FROM findings WHERE campaign_id = ? ORDER BY "  # noqa: S608
            "CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 "
            "ELSE 3 END, slug",
            (campaign_id,),
        )
        return [Finding._make((*row[:-1], json.loads(row[-1]))) for row in rows]


def _campaign(row: tuple[Any, ...]) -> Campaign:
    fields = dict(zip(Campaign._fields, row, strict=True))
    return Campaign(**fields | {"versions": json.loads(fields["versions"])})


def _case(row: tuple[Any, ...]) -> Case:
    return Case._make((*row[:5], json.loads(row[5]), row[6]))


def _result(row: tuple[Any, ...]) -> Measurement:
    outcome = Outcome._make((*row[8:13], json.loads(row[13])))
    return Measurement(row[0], _case(row[1:8]), outcome, *row[14:])
