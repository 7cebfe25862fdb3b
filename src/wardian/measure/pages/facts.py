"""What the store says of one campaign and of those before it, read once for all pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.errors import NothingMatched
from wardian.measure.history.comparison import Identity, comparable
from wardian.measure.store.model import Campaign, Finding, Measurement, Step
from wardian.measure.store.store import Store

MAX_NIGHTS = 400


class Facts(NamedTuple):
    """``lines`` has the status of each case in each of ``campaigns``, None where it has none."""

    campaign: Campaign
    previous: Campaign | None
    campaigns: tuple[Campaign, ...]
    sandboxes: tuple[str, ...]
    results: Mapping[Identity, Measurement]
    before: Mapping[Identity, Measurement]
    lines: Mapping[Identity, Sequence[str | None]]
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...]

    def of_kind(self, *kinds: str) -> list[Measurement]:
        """The results of these kinds."""
        return [one for one in self.results.values() if one.case.kind in kinds]

    def since(self, identity: Identity) -> Campaign | None:
        """The campaign from which on the case has had the status that it has."""
        line = self.lines.get(identity, ())
        if not line or line[-1] is None:
            return None
        at = len(line) - 1
        while at > 0 and line[at - 1] in (line[-1], None):
            at -= 1
        while line[at] is None:
            at += 1
        return self.campaigns[at]


def read(store: Store, name: str = "last", against: str | None = None) -> Facts:
    """The facts of a campaign, compared with the one before it or with ``against``.

    Raises NothingMatched if there is no such campaign.
    """
    campaign = store.campaign(name)
    earlier = comparable(store, campaign)
    campaigns = (*earlier, campaign)[-MAX_NIGHTS:]
    previous = store.campaign(against) if against else earlier[-1] if earlier else None
    if previous is not None and previous.id == campaign.id:
        raise NothingMatched("a campaign can't be compared with itself")
    results = store.results(campaign.id, evidence=True)
    before = store.results(previous.id) if previous else []
    names = {one.id: one.identity for one in store.cases()}
    return Facts(
        campaign=campaign,
        previous=previous,
        campaigns=campaigns,
        sandboxes=ordered(one.case.sandbox for one in results if one.case.sandbox),
        results={one.case.identity: one for one in results},
        before={one.case.identity: one for one in before},
        lines={names[case_id]: line for case_id, line in store.lines(campaigns).items()},
        findings=tuple(store.findings(campaign.id)),
        steps=tuple(store.steps(campaign.id)),
    )


def ordered(sandboxes: Iterable[str]) -> tuple[str, ...]:
    """Ours first, the bare host last, the others by name."""
    places = {"wardian": 0, "host": 2}
    return tuple(sorted(set(sandboxes), key=lambda one: (places.get(one, 1), one)))
