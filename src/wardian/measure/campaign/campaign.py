"""One campaign: plan what to measure, reuse what is known, measure and store the rest."""

from __future__ import annotations

import datetime
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import NothingMatched, UsageError
from wardian.measure.campaign.executing import Executor, Local
from wardian.measure.campaign.performing import Produced
from wardian.measure.campaign.plan import CampaignPlan, kept_sources, profile_files
from wardian.measure.campaign.units import Unit
from wardian.measure.store.model import Campaign
from wardian.measure.store.store import Store, Write, now

MEASURING = ("traces", "probes", "specimens", "suites", "skills")
STEPS = ("inventory", *MEASURING, "comparison", "findings", "documents")


class Wishes(NamedTuple):
    """How, not what. ``only`` are steps; ``shard`` is number and total, from 1 on."""

    only: tuple[str, ...] = ()
    resume: bool = False
    shard: tuple[int, int] = (1, 1)
    budget_s: float | None = None
    night: str = ""
    name: str = ""


class Listener(NamedTuple):
    """Called with progress: the planned units, each finished one (and whether it was known
    already), and messages."""

    on_plan: Callable[[Sequence[Unit]], None] = lambda units: None
    on_done: Callable[[Unit, bool, Sequence[Produced]], None] = lambda unit, known, produced: None
    say: Callable[[str], None] = lambda text: None


def measure(
    store: Store,
    plan: CampaignPlan,
    wishes: Wishes,
    *,
    executor: Executor | None = None,
    listener: Listener | None = None,
) -> Campaign:
    """Measure what is not known yet, and store each result at once. Raises UsageError.

    The campaign that comes back is running still: ``close`` ends it.
    """
    listener = listener or Listener()
    campaign = _opened(store, plan, wishes)
    with store.writing():
        for digest, files in kept_sources(plan):
            store.keep_sources(digest, files)
    document = {"skills": [one.document() for one in plan.entries]}
    store.step(campaign.id, "inventory", state="done", ended=now(), document=document)
    wanted = [one for one in plan.units if not wishes.only or one.step in wishes.only]
    notes = {"suites": "no suites were given", **plan.not_run}
    chosen = {step: note for step, note in notes.items() if not wishes.only or step in wishes.only}
    work = _Work(store, campaign, wanted, listener, chosen)
    todo = work.known({one.key for one in plan.units})
    listener.on_plan(todo)
    deadline = time.monotonic() + wishes.budget_s if wishes.budget_s is not None else None
    try:
        left = (executor or Local(plan.config.jobs)).run(todo, work.done, deadline)
    except BaseException:
        store.finish(campaign.id, "interrupted")
        raise
    work.end(left)
    return store.campaign(campaign.id)


class _Work:
    """The units of a campaign and the progress of each step."""

    def __init__(
        self,
        store: Store,
        campaign: Campaign,
        units: Sequence[Unit],
        listener: Listener,
        notes: Mapping[str, str],
    ) -> None:
        """``notes``: step → why nothing of it is measured."""
        self.store, self.campaign, self.units, self.listener = store, campaign, units, listener
        self.notes = notes
        self.total = Counter(one.step for one in units)
        self.finished: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()

    def known(self, valid: set[str]) -> list[Unit]:
        """Begin the steps; returns the units that have to be performed. Of what a campaign that
        goes on has already, only what has one of the ``valid`` keys still holds."""
        here = self.store.results(self.campaign.id)
        keys = {one.key for one in self.units}
        self.store.forget(self.campaign.id, {one.key for one in here} - valid)
        done = {one.key: one.measured_in for one in here if one.key in keys}
        taken = self.store.reuse(self.campaign, [k for k in keys if k not in done])
        todo = []
        for unit in self.units:
            if unit.key in done or unit.key in taken:
                again = unit.key in taken or done[unit.key] != self.campaign.uid
                self.finished[unit.step] += 1
                self.reused[unit.step] += again
                self.listener.on_done(unit, True, ())
            else:
                todo.append(unit)
        for step in MEASURING:
            if self.total[step] or step in self.notes:
                self._write_step(step)
        return todo

    def done(self, unit: Unit, produced: list[Produced]) -> None:
        """A unit was performed."""
        depends = {**unit.depends, "case": "\0".join(unit.case.identity)}
        writes = [
            Write(one.case, one.outcome, one.duration_s, one.time, unit.key, "", depends)
            for one in produced
        ]
        self.finished[unit.step] += 1
        with self.store.writing():
            self.store.record(self.campaign, writes)
            self._write_step(unit.step)
        self.listener.on_done(unit, False, produced)

    def _write_step(self, step: str, **more: str) -> None:
        self.store.step(
            self.campaign.id, step, total=self.total[step], done=self.finished[step],
            reused=self.reused[step], **more,
        )  # fmt: skip

    def end(self, left: Sequence[Unit]) -> None:
        """Time is up, or all is done."""
        lacking = Counter(one.step for one in left)
        for step in MEASURING:
            if self.total[step]:
                self._write_step(step, state="partial" if lacking[step] else "done", ended=now())
            elif step in self.notes:
                document = {"note": self.notes[step]}
                self.store.step(
                    self.campaign.id, step, state="done", ended=now(), document=document
                )


def close(store: Store, campaign: Campaign) -> Campaign:
    """The end: finished, or partial if a step is."""
    steps = store.steps(campaign.id)
    partial = any(one.state == "partial" for one in steps)
    store.finish(campaign.id, "partial" if partial else "finished")
    return store.campaign(campaign.id)


# Beginning and resuming campaigns


def last_measured(store: Store, plan: CampaignPlan) -> Campaign:
    """The last campaign of these settings that ended. Raises NothingMatched."""
    digest = plan.config.digest
    ended = store.campaigns(kind="nightly", states=("finished", "partial"))
    found = [one for one in ended if one.config_digest == digest]
    if not found:
        raise NothingMatched("there is no campaign with these settings", hint="wardian nightly")
    return found[-1]


def _opened(store: Store, plan: CampaignPlan, wishes: Wishes) -> Campaign:
    number, total = wishes.shard
    shard = f"{number}/{total}" if total > 1 else ""
    digest = plan.config.digest
    open_ones = [
        one
        for one in store.campaigns(kind="nightly", states=("running", "interrupted", "partial"))
        if (one.config_digest, one.shard) == (digest, shard)
    ]
    with store.writing():
        for one in open_ones:
            if one.state == "running" and not _alive(one.owner):
                store.finish(one.id, "interrupted")
        if wishes.resume:
            return _resumed(store, open_ones)
        return store.begin(_campaign(plan, wishes, shard))


def _resumed(store: Store, open_ones: Sequence[Campaign]) -> Campaign:
    if not open_ones:
        raise NothingMatched(
            "there is no campaign with these settings to resume",
            hint="run without --resume to begin a new one",
        )
    last = open_ones[-1]
    if last.state == "running" and _alive(last.owner):
        raise UsageError(f"the campaign of {last.night} is still running: {last.owner}")
    store.continued(last.id, _owner())
    return store.campaign(last.id)


def _campaign(plan: CampaignPlan, wishes: Wishes, shard: str) -> Campaign:
    workbench, config = plan.workbench, plan.config
    night = wishes.night or datetime.datetime.now(datetime.UTC).date().isoformat()
    versions = workbench.versions(plan.sandboxes)
    versions |= {f"skill:{one.name}": one.digest for one in plan.entries if one.digest}
    versions |= {f"profile:{name}": digest for name, (digest, _) in profile_files(plan).items()}
    name = f"{wishes.name}\0{night}\0{config.digest}" if wishes.name else ""
    return Campaign(
        id=0,
        uid=hashlib.sha256(name.encode()).hexdigest()[:32] if name else "",
        kind="nightly",
        night=night,
        started="",
        ended="",
        state="running",
        host=workbench.host,
        kernel=workbench.kernel,
        machine=workbench.machine,
        user_id=workbench.user_id,
        wardian=workbench.wardian,
        wardian_digest=workbench.wardian_digest,
        policy=plan.policy.to_toml(),
        policy_digest=plan.policy.digest,
        config_digest=config.digest,
        versions=versions,
        shard=shard,
        owner=_owner(),
    )


def _owner() -> str:
    """Identifies this process, even if a later one has the same PID."""
    return f"{os.uname().nodename} pid {os.getpid()} started {_started(os.getpid())}"


def _alive(owner: str) -> bool:
    words = owner.split()
    if len(words) != 5 or words[0] != os.uname().nodename:
        return False  # on another machine: its store would not be here
    return _started(int(words[2])) == words[4]


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks; nothing once it is gone. proc(5)"""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
