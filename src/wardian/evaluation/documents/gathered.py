"""What the documents are drawn from: one campaign, gathered from the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from wardian.evaluation.comparison import Comparison
from wardian.evaluation.findings import Use, users
from wardian.evaluation.model import Campaign, Figure, Finding, Result, Step
from wardian.evaluation.reading import Reader
from wardian.evaluation.units import OURS


class Gathered(NamedTuple):
    """A campaign with everything that is told about it. Results have their evidence."""

    campaign: Campaign
    results: tuple[Result, ...]
    comparison: Comparison
    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    history: tuple[tuple[Campaign, Mapping[str, float]], ...]  # figures of our own sandbox
    steps: tuple[Step, ...]

    @property
    def sandboxes(self) -> list[str]:
        """Ours first."""
        names = {one.case.sandbox for one in self.results}
        return sorted(names, key=lambda name: (name != OURS, name))

    @property
    def skills(self) -> list[Mapping[str, Any]]:
        """The inventory."""
        step = next((one for one in self.steps if one.name == "inventory"), None)
        return list(step.document.get("skills", [])) if step is not None else []

    def of(self, kind: str, sandbox: str | None = None) -> list[Result]:
        """Results of a kind, in one sandbox or in all."""
        return [
            one
            for one in self.results
            if one.case.kind == kind and sandbox in (None, one.case.sandbox)
        ]

    def number(self, kind: str, sandbox: str, health: str = "") -> int:
        """How many there are."""
        return sum(not health or one.health == health for one in self.of(kind, sandbox))

    def health(self, sandbox: str) -> Counter[str]:
        """Over all kinds."""
        return Counter(one.health for one in self.results if one.case.sandbox == sandbox)

    def seconds(self) -> float:
        """How long it took, by its figures."""
        return next((f.value for f in self.figures if f.name == "campaign.seconds"), 0.0)

    def figure(self, name: str, sandbox: str = "") -> float | None:
        """A figure of this campaign."""
        found = (f.value for f in self.figures if (f.name, f.sandbox) == (name, sandbox))
        return next(found, None)

    def using(self) -> dict[str, Use]:
        """System call → who makes it."""
        return users(self.results)


def gather(store: Reader, campaign: Campaign, comparison: Comparison) -> Gathered:
    """All of a campaign; its history is that of the comparable ones before it."""
    from wardian.evaluation.comparison import comparable

    history = []
    by_campaign: dict[int, dict[str, float]] = {}
    for figure in store.figures():
        if figure.sandbox in (OURS, ""):
            by_campaign.setdefault(figure.campaign_id, {})[figure.name] = figure.value
    for one in (*comparable(store, campaign), campaign):
        history.append((one, by_campaign.get(one.id, {})))
    return Gathered(
        campaign,
        tuple(store.results(campaign.id, evidence=True)),
        comparison,
        tuple(store.findings(campaign.id)),
        tuple(store.figures(campaign.id)),
        tuple(history),
        tuple(store.steps(campaign.id)),
    )
