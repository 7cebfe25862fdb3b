"""A store as lines that other programs read: JSON lines of all of it, or one table as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any, TextIO

from wardian.measure.store.model import Campaign, fields
from wardian.measure.store.reading import StoreReader

SCHEMA = "wardian.history-export/1"
TABLES = ("campaigns", "results", "figures", "findings")
_COLUMNS = {
    "campaigns": [name for name in Campaign._fields if name not in ("id", "owner", "policy")],
    "results": ["campaign", "night", "kind", "name", "sandbox", "group", "capability", "status",
                "health", "observed", "errno", "cause", "detail", "duration_s", "time", "key",
                "measured_in"],
    "figures": ["campaign", "night", "name", "sandbox", "value", "unit", "evidence"],
    "findings": ["campaign", "night", "slug", "severity", "title", "cause"],
}  # fmt: skip


def rows(store: StoreReader, table: str, *, evidence: bool = False) -> Iterator[dict[str, Any]]:
    """One table, a campaign at a time, oldest first."""
    for one in store.campaigns():
        where = {"campaign": one.uid, "night": one.night}
        if table == "campaigns":
            yield fields(one)
        elif table == "figures":
            yield from (where | fields(figure) for figure in store.figures(one.id))
        elif table == "findings":
            yield from (where | fields(found) for found in store.findings(one.id))
        else:
            yield from (where | row for row in _results(store, one, evidence))


def _results(store: StoreReader, campaign: Campaign, evidence: bool) -> Iterator[dict[str, Any]]:
    for one in store.results(campaign.id, evidence=evidence):
        outcome = one.outcome._asdict()
        kept = outcome.pop("evidence")
        case = {k: getattr(one.case, k) for k in ("kind", "name", "sandbox", "group", "capability")}
        rest = {k: getattr(one, k) for k in ("duration_s", "time", "key", "measured_in", "health")}
        yield case | outcome | rest | ({"evidence": kept} if evidence else {})


def write_json_lines(store: StoreReader, tables: list[str], file: TextIO, *, evidence: bool) -> int:
    """Each line says of which table it is; returns how many there are."""
    count = 0
    for table in tables:
        for row in rows(store, table, evidence=evidence):
            file.write(json.dumps({"schema": SCHEMA, "table": table} | row) + "\n")
            count += 1
    return count


def write_csv(store: StoreReader, table: str, file: TextIO) -> int:
    """With a header; what is no text or number is JSON."""
    out = csv.DictWriter(file, _COLUMNS[table], extrasaction="ignore", lineterminator="\n")
    out.writeheader()
    count = 0
    for row in rows(store, table):
        out.writerow(
            {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()}
        )
        count += 1
    return count
