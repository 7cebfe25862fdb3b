"""One campaign and those before it, as stored: the data of every page."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wardian.errors import NothingMatched
from wardian.measure.campaign.units import OURS
from wardian.measure.case import Identity
from wardian.measure.history.comparison import Comparison, comparable, compare
from wardian.measure.probes.artifact import Artifact, check
from wardian.measure.refused import text
from wardian.measure.store.model import Campaign, Figure, Finding, Measurement, Step
from wardian.measure.store.reading import StoreReader
from wardian.measure.syscalls.matrix import Matrix, build
from wardian.measure.syscalls.usage import CallUse

MAX_NIGHTS = 400


class Facts:
    """Each part is read from the store once, on first use."""

    def __init__(
        self,
        store: StoreReader,
        campaign: Campaign,
        *,
        against: Campaign | None = None,
        comparison: Comparison | None = None,
        results: Sequence[Measurement] | None = None,
    ) -> None:
        """``against`` replaces the campaign before in comparisons; ``comparison`` and ``results``
        (with evidence) are passed by callers that have them already."""
        self.campaign = campaign
        self._store, self._against = store, against
        if comparison is not None:
            self.comparison = comparison
        if results is not None:
            self.results = tuple(results)

    @functools.cached_property
    def campaigns(self) -> tuple[Campaign, ...]:
        """The campaigns that can be compared with this one, oldest first, then this one."""
        return (*comparable(self._store, self.campaign), self.campaign)[-MAX_NIGHTS:]

    @property
    def previous(self) -> Campaign | None:
        """The campaign that this one is compared with."""
        return self._against or (self.campaigns[-2] if len(self.campaigns) > 1 else None)

    @functools.cached_property
    def comparison(self) -> Comparison:
        """This campaign compared with the last known result of each case."""
        return compare(self._store, self.campaign, whole=False)

    @functools.cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The worst first."""
        return tuple(self._store.findings(self.campaign.id))

    @functools.cached_property
    def steps(self) -> tuple[Step, ...]:
        """In the order in which they began."""
        return tuple(self._store.steps(self.campaign.id))

    # Results

    @functools.cached_property
    def results(self) -> tuple[Measurement, ...]:
        """All results of this campaign, with evidence."""
        return tuple(self._store.results(self.campaign.id, evidence=True))

    @functools.cached_property
    def known(self) -> Mapping[Identity, Measurement]:
        """The results by case."""
        return {one.case.identity: one for one in self.results}

    @functools.cached_property
    def before(self) -> Mapping[Identity, Measurement]:
        """The results of the campaign that this one is compared with."""
        results = self._store.results(self.previous.id) if self.previous is not None else []
        return {one.case.identity: one for one in results}

    @functools.cached_property
    def sandboxes(self) -> tuple[str, ...]:
        return ordered(one.case.sandbox for one in self.results if one.case.sandbox)

    def of(self, kind: str, sandbox: str | None = None) -> list[Measurement]:
        """Results of a kind, in one sandbox or in all."""
        return self._by_kind.get((kind, sandbox), [])

    @functools.cached_property
    def _by_kind(self) -> dict[tuple[str, str | None], list[Measurement]]:
        found: dict[tuple[str, str | None], list[Measurement]] = {}
        for one in self.results:
            for sandbox in (None, one.case.sandbox):
                found.setdefault((one.case.kind, sandbox), []).append(one)
        return found

    @property
    def flaky(self) -> list[Measurement]:
        """Results of this campaign that passed only at the second try."""
        own = (one for one in self.results if one.measured_in == self.campaign.uid)
        return [one for one in own if "unsteady" in one.outcome.evidence]

    # Over time

    @functools.cached_property
    def lines(self) -> Mapping[Identity, Sequence[str | None]]:
        """The status of each case in each of ``campaigns``, None where it has none."""
        lines = self._store.lines(self.campaigns)
        # Read after them: a campaign that runs adds cases meanwhile.
        names = {one.id: one.identity for one in self._store.cases()}
        return {names[one]: line for one, line in lines.items()}

    @functools.cached_property
    def followed(self) -> Mapping[Identity, Sequence[str | None]]:
        """Of ``lines`` those that a timeline may show: neither checks nor traces."""
        return {
            identity: line
            for identity, line in self.lines.items()
            if identity[0] not in ("check", "trace") and any(line)
        }

    @functools.cached_property
    def changed_ever(self) -> frozenset[Identity]:
        """Those of them that have had more than one status."""
        return frozenset(
            identity for identity, line in self.followed.items() if len({*line} - {None}) > 1
        )

    def since(self, identity: Identity) -> Campaign | None:
        """The campaign since which the case has had its present status."""
        line = self.lines.get(identity, ())
        if not line or line[-1] is None:
            return None
        at = len(line) - 1
        while at > 0 and line[at - 1] in (line[-1], None):
            at -= 1
        while line[at] is None:
            at += 1
        return self.campaigns[at]

    @functools.cached_property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(self._store.figures(self.campaign.id))

    def figure(self, name: str, sandbox: str = "") -> float:
        """A figure of this campaign; 0 if there is none of that name."""
        found = (f.value for f in self.figures if (f.name, f.sandbox) == (name, sandbox))
        return next(found, 0.0)

    @property
    def history(self) -> list[tuple[Campaign, Mapping[str, float]]]:
        """Each campaign's figures of our own sandbox."""
        found: dict[int, dict[str, float]] = {}
        for one in self._store.figures():
            if one.sandbox in (OURS, ""):
                found.setdefault(one.campaign_id, {})[one.name] = one.value
        return [(one, found.get(one.id, {})) for one in self.campaigns]

    # Skills and system calls

    @property
    def skills(self) -> list[Mapping[str, Any]]:
        """The inventory of skills."""
        step = next((one for one in self.steps if one.name == "inventory"), None)
        return list(step.document.get("skills", [])) if step is not None else []

    @functools.cached_property
    def uses(self) -> list[CallUse]:
        """The calls that each skill makes, from the traces of its cases."""
        calls: dict[str, set[str]] = {}
        for one in self.of("trace"):
            calls.setdefault(one.case.group, set()).update(one.outcome.evidence.get("syscalls", ()))
        return [CallUse(name, "skill", tuple(sorted(made))) for name, made in sorted(calls.items())]

    @functools.cached_property
    def artifacts(self) -> tuple[Artifact, ...]:
        """The artifacts of specimens, as `wardian probe` writes them."""
        return tuple(_artifacts(self.campaign, self.of("probe")))

    @functools.cached_property
    def matrix(self) -> Matrix:
        """Every system call in every sandbox in which specimens measured it."""
        names = ordered(one.sandbox for one in self.artifacts)
        return build(self.artifacts, self.campaign.machine, names)


def read(store: StoreReader, name: str = "last", against: str | None = None) -> Facts:
    """The facts of a campaign, compared with the one before it or with ``against``.

    Raises NothingMatched if there is no such campaign.
    """
    campaign = store.campaign(name)
    other = store.campaign(against) if against else None
    if other is not None and other.id == campaign.id:
        raise NothingMatched("a campaign can't be compared with itself")
    return Facts(store, campaign, against=other)


def newest_artifacts(store: StoreReader, capability: str) -> list[Artifact]:
    """The newest measurement of each specimen of a capability in each sandbox, whichever campaign
    made it: the last one may have measured only a part."""
    cases = [one for one in store.cases(kind="probe") if one.capability == capability]
    if not cases:
        return []
    newest = {one: moments[-1] for one, moments in
              store.timelines(case_ids=[one.id for one in cases]).items()}  # fmt: skip
    campaigns = {one.id: one for one in store.campaigns()}
    found: list[Artifact] = []
    for one in cases:
        moment = newest.get(one.id)
        result = store.result(moment.campaign_id, one.identity) if moment is not None else None
        if result is not None:
            found += _artifacts(campaigns[result.campaign_id], [result])
    return found


def ordered(sandboxes: Iterable[str]) -> tuple[str, ...]:
    """Ours first, the bare host last, the others by name."""
    places = {OURS: 0, "host": 2}
    return tuple(sorted(set(sandboxes), key=lambda one: (places.get(one, 1), one)))


def _artifacts(campaign: Campaign, results: Iterable[Measurement]) -> Iterator[Artifact]:
    for one in results:
        stored = one.outcome.evidence.get("artifact")
        if not stored:
            continue
        volatile = {
            "time": one.time, "duration_s": one.duration_s, "host": campaign.host,
            "kernel": campaign.kernel, "machine": campaign.machine, "uid": campaign.user_id,
            "wardian": campaign.wardian,
            "refusals": [text(refusal) for refusal in one.outcome.refusals],
        }  # fmt: skip
        try:
            yield check({**stored, **volatile})
        except ValueError:
            continue  # written by a version with another format
