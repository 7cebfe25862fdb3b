"""Join stores and delete campaigns."""

from __future__ import annotations

import datetime
import json
from typing import NamedTuple

from wardian.measure.store.figures import counted, skills_passing
from wardian.measure.store.model import Campaign
from wardian.measure.store.reading import StoreReader
from wardian.measure.store.store import Store, Write

_ORPHANS = (
    "DELETE FROM outcomes WHERE id NOT IN (SELECT outcome_id FROM results)",
    "DELETE FROM cases WHERE id NOT IN (SELECT case_id FROM results)",
    "DELETE FROM dependencies WHERE key NOT IN (SELECT key FROM results)",
    """DELETE FROM sources WHERE
        digest NOT IN (SELECT value FROM dependencies, json_each(dependencies.document)) AND
        digest NOT IN (SELECT value FROM campaigns, json_each(campaigns.versions))""",
)


ADDED = ("campaign.measured", "campaign.reused")


class Merged(NamedTuple):
    """What came over: campaigns that were not there, and results."""

    campaigns: int
    results: int


def merge(store: Store, other: StoreReader) -> Merged:
    """Everything of another store that this one lacks, a campaign at a time.

    Campaigns with the same uid are shards of one: their results are joined, and once all shards
    are there it is whole. To merge the same store again changes nothing.
    """
    campaigns = results = 0
    for theirs in other.campaigns():
        with store.writing():
            ours, made = _joined(store, theirs)
            campaigns += made
            known = {one.case.identity for one in store.results(ours.id)}
            found = [
                one
                for one in other.results(theirs.id, evidence=True)
                if one.case.identity not in known
            ]
            depends = other.dependencies(one.key for one in found)
            store.record(ours, [
                Write(one.case, one.outcome, one.duration_s, one.time, one.key, one.measured_in,
                      depends.get(one.key, {}))
                for one in found
            ])  # fmt: skip
            results += len(found)
            if made or found:
                _join_numbers(store, other, ours, theirs)
            _join_steps(store, other, ours, theirs, made=made, new=bool(found))
    for digest in other.source_digests():
        files = other.sources(digest)
        if files is not None:
            store.keep_sources(digest, files)
    return Merged(campaigns, results)


def _joined(store: Store, theirs: Campaign) -> tuple[Campaign, bool]:
    """Our campaign with their uid, and whether it had to be made."""
    ours = next((one for one in store.campaigns() if one.uid == theirs.uid), None)
    if ours is None:
        return store.begin(theirs), True
    shards = joined_shards(ours.shard, theirs.shard)
    states = {ours.state, theirs.state}
    state = next(s for s in ("running", "interrupted", "partial", "finished") if s in states)
    with store.writing() as connection:
        connection.execute(
            "UPDATE campaigns SET shard = ?, state = ?, started = ?, ended = ?, versions = ? "
            "WHERE id = ?",
            (shards, state, min(ours.started, theirs.started), max(ours.ended, theirs.ended),
             json.dumps({**theirs.versions, **ours.versions}, sort_keys=True), ours.id),
        )  # fmt: skip
    return ours, False


def joined_shards(one: str, other: str) -> str:
    """``1/3`` and ``2/3`` are ``1/3 2/3``; with ``3/3`` nothing is missing, and it is empty."""
    if not one or not other:
        return ""
    parts = sorted(set(one.split()) | set(other.split()))
    total = int(parts[0].partition("/")[2])
    return "" if len(parts) == total else " ".join(parts)


def _join_numbers(store: Store, other: StoreReader, ours: Campaign, theirs: Campaign) -> None:
    """Figures and findings of both: what is counted is counted again, over all results; what a
    shard did adds up; how long it took is the longest."""
    known = {(one.name, one.sandbox): one for one in store.figures(ours.id)}
    for one in other.figures(theirs.id):
        before = known.get((one.name, one.sandbox))
        if before is None:
            value = one.value
        elif one.name in ADDED:
            value = before.value + one.value
        else:
            value = max(before.value, one.value)
        known[one.name, one.sandbox] = one._replace(value=value)
    results = store.results(ours.id)
    counts = [*counted(results), *skills_passing(results)]
    store.record_figures(ours.id, [*known.values(), *counts])
    findings = {one.slug: one for one in other.findings(theirs.id)}
    findings |= {one.slug: one for one in store.findings(ours.id)}
    store.record_findings(ours.id, findings.values())


def _join_steps(
    store: Store, other: StoreReader, ours: Campaign, theirs: Campaign, *, made: bool, new: bool
) -> None:
    known = {} if made else {one.name: one for one in store.steps(ours.id)}
    for step in other.steps(theirs.id):
        fields = {k: v for k, v in step._asdict().items() if k not in ("campaign_id", "name")}
        before = known.get(step.name)
        if before is None:
            store.step(ours.id, step.name, **fields)
        elif new:
            added = {k: getattr(before, k) + getattr(step, k) for k in ("total", "done", "reused")}
            states = {before.state, step.state}
            state = "partial" if states != {"done"} else "done"
            store.step(ours.id, step.name, state=state, **added)


class Pruned(NamedTuple):
    """What went, or would go."""

    campaigns: tuple[Campaign, ...]
    results: int


def prune(
    store: Store, *, keep: int | None = None, days: float | None = None, dry: bool = False
) -> Pruned:
    """Delete campaigns that are not among the last ``keep`` and older than ``days``.

    The last finished one always stays, because the next one is compared with it.
    """
    campaigns = store.campaigns()
    ended = [one.id for one in campaigns if one.state in ("finished", "partial")]
    stay = set(ended[-1:])
    if keep is not None:
        stay |= {one.id for one in campaigns[len(campaigns) - keep :]}
    if days is not None:
        limit = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
        stay |= {one.id for one in campaigns if one.started >= limit.isoformat()}
    going = tuple(one for one in campaigns if one.id not in stay and not _alive(one))
    count = sum(len(store.results(one.id)) for one in going)
    if not dry and going:
        with store.writing() as connection:
            connection.executemany("DELETE FROM campaigns WHERE id = ?", [(c.id,) for c in going])
            for statement in _ORPHANS:
                connection.execute(statement)
        store.compact()
    return Pruned(going, count)


def _alive(campaign: Campaign) -> bool:
    return campaign.state == "running"
