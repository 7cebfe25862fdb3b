"""Rows of cases and outcomes: equal ones are stored once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from wardian.measure.case import Case
from wardian.measure.outcome import Outcome

MAX_EVIDENCE_BYTES = 64 << 10
MAX_TEXT = 4000


def case_id_of(connection: sqlite3.Connection, case: Case) -> int:
    """The row of a case, made or brought up to date."""
    about = as_json(case.about)
    row = connection.execute(
        'SELECT id, "group", capability, about FROM cases '
        "WHERE kind = ? AND name = ? AND sandbox = ?",
        case.identity,
    ).fetchone()
    if row is None:
        done = connection.execute(
            'INSERT INTO cases (kind, name, sandbox, "group", capability, about) '
            "VALUES (?, ?, ?, ?, ?, ?)",
            (*case.identity, case.group, case.capability, about),
        )
        return int(done.lastrowid or 0)
    if row[1:] != (case.group, case.capability, about):
        connection.execute(
            'UPDATE cases SET "group" = ?, capability = ?, about = ? WHERE id = ?',
            (case.group, case.capability, about, row[0]),
        )
    return int(row[0])


def outcome_id_of(connection: sqlite3.Connection, outcome: Outcome) -> int:
    """The row of an outcome; equal ones have one."""
    fields = (
        outcome.status, outcome.cause[:MAX_TEXT], outcome.detail[:MAX_TEXT], outcome.errno,
        outcome.observed, _bounded(outcome.evidence),
    )  # fmt: skip
    digest = hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:32]
    row = connection.execute("SELECT id FROM outcomes WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        done = connection.execute(
            "INSERT INTO outcomes (digest, status, cause, detail, errno, observed, evidence) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (digest, *fields),
        )
        return int(done.lastrowid or 0)
    return int(row[0])


def _bounded(evidence: Mapping[str, Any]) -> str:
    text = as_json(evidence)
    if len(text) <= MAX_EVIDENCE_BYTES:
        return text
    sizes = {key: len(as_json(value)) for key, value in evidence.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    smaller = {key: value for key, value in evidence.items() if key != largest}
    return _bounded(smaller | {"left_out": [*evidence.get("left_out", []), largest]})


def as_json(value: Any) -> str:
    """The same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=list)
