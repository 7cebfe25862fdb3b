"""A whole nightly campaign: measure, compare, find, propose, write. The command only calls this."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from wardian.measure.campaign import campaign as running
from wardian.measure.campaign.campaign import MEASURING, Listener, Wishes
from wardian.measure.campaign.config import Config
from wardian.measure.campaign.executing import Executor
from wardian.measure.campaign.plan import CampaignPlan, prepare
from wardian.measure.findings import findings, policy_edit, proposals
from wardian.measure.findings.troubles import troubles
from wardian.measure.history import comparison as comparing
from wardian.measure.history.comparison import Comparison
from wardian.measure.pages.documents.decision import Decision, OpenOnes, decide
from wardian.measure.pages.documents.writing import write_documents
from wardian.measure.pages.facts import Facts
from wardian.measure.store import figures
from wardian.measure.store.model import Campaign, Figure, Finding, Measurement
from wardian.measure.store.store import Store, now

MAX_PROPOSED = 20  # findings for which changes are tried


class Night(NamedTuple):
    """What came of it. ``files`` are the documents that were written; ``skipped`` are steps of
    which nothing ran, though there was something, and why."""

    facts: Facts
    decision: Decision
    files: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def run(
    store: Store,
    config: Config,
    wishes: Wishes,
    *,
    output: str | None = None,
    open_ones: OpenOnes | None = None,
    executor: Executor | None = None,
    listener: Listener | None = None,
) -> Night:
    """All steps that are wanted; if none of them measures, on the last campaign that did.

    Raises what ``prepare``, ``measure`` and writing raise.
    """
    listener = listener or Listener()
    begun = time.monotonic()
    if _wanted(wishes, "findings"):
        policy_edit.require()  # before anything is measured
    elsewhere = executor.workbench() if executor is not None else None
    plan = prepare(config, wishes.shard, elsewhere)
    again = bool(wishes.only) and not set(wishes.only) & {"inventory", *MEASURING}
    if again:
        made = running.last_measured(store, plan)
    else:
        made = running.measure(store, plan, wishes, executor=executor, listener=listener)
    results = store.results(made.id, evidence=True)
    compared, found = _judged(store, made, results, plan, wishes, listener)
    facts = Facts(store, made, comparison=compared, results=results)
    if not again:
        store.record_figures(made.id, _figures(facts, found, time.monotonic() - begun))
        facts = Facts(store, running.close(store, made), comparison=compared, results=results)
    before = store.findings(compared.last.id) if compared.last is not None else []
    decision = decide(facts, before, open_ones or OpenOnes(), config.title)
    files: list[str] = []
    if output is not None and _wanted(wishes, "documents"):
        files = write_documents(output, facts, decision)
        store.step(made.id, "documents", state="done", ended=now(), total=len(files),
                   done=len(files))  # fmt: skip
    skipped = {} if again else plan.not_run
    left_out = tuple((step, skipped[step]) for step in sorted(skipped) if _wanted(wishes, step))
    return Night(facts, decision, tuple(files), left_out)


def _wanted(wishes: Wishes, step: str) -> bool:
    return not wishes.only or step in wishes.only


def _judged(
    store: Store,
    made: Campaign,
    results: list[Measurement],
    plan: CampaignPlan,
    wishes: Wishes,
    listener: Listener,
) -> tuple[Comparison, list[Finding]]:
    """The comparison, and the findings with what would mend them."""
    steps = {one.name: one.state for one in store.steps(made.id)}
    whole = (
        all(steps.get(step, "done") == "done" for step in MEASURING)
        and not made.shard
        and not set(wishes.only) & set(MEASURING)
    )
    store.step(made.id, "comparison", state="running")
    compared = comparing.compare(store, made, whole=whole)
    store.step(made.id, "comparison", state="done", ended=now(), total=len(compared.differences),
               done=len(compared.differences))  # fmt: skip
    if not _wanted(wishes, "findings"):
        return compared, []
    store.step(made.id, "findings", state="running")
    onsets = comparing.onsets(store, made, results)
    wrong = troubles(results, compared, onsets)
    pairs = findings.findings(wrong, compared, findings.users(results))
    campaigns = {one.id: one for one in store.campaigns()}
    found = []
    for number, (one, ones) in enumerate(pairs):
        tries: list[dict[str, Any]] = []
        if number < MAX_PROPOSED and ones:
            listener.say(f"trying fixes for: {one.title}")
            tried = proposals.proposals(ones, plan, store, campaigns)
            tries = [each.document() for each in tried]
        proposal = {"proposal": tries[0] if tries else None, "alternatives": tries[1:]}
        found.append(one._replace(document={**one.document, **proposal}))
    store.record_findings(made.id, found)
    store.step(made.id, "findings", state="done", ended=now(), total=len(found), done=len(found))
    return compared, found


def _figures(facts: Facts, found: list[Finding], seconds: float) -> list[Figure]:
    made, results, matrix = facts.campaign, facts.results, facts.matrix
    own = sum(one.measured_in == made.uid for one in results)
    used = len(findings.users(results))
    calls = [
        Figure(made.id, f"syscalls.{status}", sandbox, count, "calls", "SYSCALL_ANALYSIS.md")
        for sandbox in matrix.sandboxes
        for status, count in matrix.counts(sandbox).items()
    ]
    return [
        *figures.counted(results),
        *figures.skills_passing(results),
        *calls,
        Figure(made.id, "syscalls.used", "", used, "calls", "trace:total"),
        Figure(made.id, "findings.total", "", len(found), "findings", "findings"),
        Figure(made.id, "campaign.seconds", "", round(seconds, 1), "s", "steps"),
        Figure(made.id, "campaign.measured", "", own, "results", "results"),
        Figure(made.id, "campaign.reused", "", len(results) - own, "results", "results"),
    ]
