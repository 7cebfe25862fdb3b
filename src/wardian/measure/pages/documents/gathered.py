"""What the documents are drawn from: one campaign, gathered from the store."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wardian.measure.campaign.units import OURS
from wardian.measure.findings.findings import CallUsers, users
from wardian.measure.history.comparison import Comparison, comparable
from wardian.measure.probes.artifact import Artifact, check
from wardian.measure.store.model import Campaign, Figure, Finding, Measurement, Step
from wardian.measure.store.reading import StoreReader
from wardian.measure.syscalls.matrix import Matrix, build


@dataclasses.dataclass(frozen=True)
class Gathered:
    """A campaign with everything that is told about it. Results have their evidence."""

    campaign: Campaign
    results: tuple[Measurement, ...]
    comparison: Comparison
    findings: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    history: tuple[tuple[Campaign, Mapping[str, float]], ...]  # figures of our own sandbox
    steps: tuple[Step, ...]
    artifacts: tuple[Artifact, ...]  # of the specimens, as `wardian probe` writes them
    matrix: Matrix  # every system call in every sandbox in which specimens measured it

    @functools.cached_property
    def sandboxes(self) -> list[str]:
        """Ours first."""
        names = {one.case.sandbox for one in self.results}
        return sorted(names, key=_ours_first)

    @property
    def skills(self) -> list[Mapping[str, Any]]:
        """The inventory."""
        step = next((one for one in self.steps if one.name == "inventory"), None)
        return list(step.document.get("skills", [])) if step is not None else []

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

    def number(self, kind: str, sandbox: str, health: str = "") -> int:
        """How many there are."""
        return sum(not health or one.health == health for one in self.of(kind, sandbox))

    @property
    def unsteady(self) -> list[Measurement]:
        """Those that were as they should be only at the second try, this time."""
        own = (one for one in self.results if one.measured_in == self.campaign.uid)
        return [one for one in own if "unsteady" in one.outcome.evidence]

    def seconds(self) -> float:
        """How long it took, by its figures."""
        return next((f.value for f in self.figures if f.name == "campaign.seconds"), 0.0)

    def figure(self, name: str, sandbox: str = "") -> float | None:
        """A figure of this campaign."""
        found = (f.value for f in self.figures if (f.name, f.sandbox) == (name, sandbox))
        return next(found, None)

    def using(self) -> dict[str, CallUsers]:
        """System call → who makes it."""
        return users(self.results)


def gather(
    store: StoreReader,
    campaign: Campaign,
    comparison: Comparison,
    results: Sequence[Measurement],
    measured: tuple[tuple[Artifact, ...], Matrix],
) -> Gathered:
    """All of a campaign; its history is that of the comparable ones before it."""
    history = []
    by_campaign: dict[int, dict[str, float]] = {}
    for figure in store.figures():
        if figure.sandbox in (OURS, ""):
            by_campaign.setdefault(figure.campaign_id, {})[figure.name] = figure.value
    for one in (*comparable(store, campaign), campaign):
        history.append((one, by_campaign.get(one.id, {})))
    return Gathered(
        campaign,
        tuple(results),
        comparison,
        tuple(store.findings(campaign.id)),
        tuple(store.figures(campaign.id)),
        tuple(history),
        tuple(store.steps(campaign.id)),
        *measured,
    )


def _ours_first(name: str) -> tuple[bool, str]:
    return name != OURS, name


def coverage_of(
    campaign: Campaign, results: Sequence[Measurement]
) -> tuple[tuple[Artifact, ...], Matrix]:
    """Artifacts of the specimens' results, with evidence, and what they say of system calls."""
    found = tuple(_artifacts(campaign, results))
    names = sorted({one.sandbox for one in found}, key=_ours_first)
    return found, build(found, campaign.machine, names)


def _artifacts(campaign: Campaign, results: Sequence[Measurement]) -> Iterator[Artifact]:
    for one in results:
        told = one.outcome.evidence.get("artifact")
        if one.case.kind != "probe" or not told:
            continue
        volatile = {
            "time": one.time, "duration_s": one.duration_s, "host": campaign.host,
            "kernel": campaign.kernel, "machine": campaign.machine, "uid": campaign.user_id,
            "wardian": campaign.wardian, "refusals": one.outcome.evidence.get("refusals", []),
        }  # fmt: skip
        try:
            yield check({**told, **volatile})
        except ValueError:
            continue  # of a version whose artifacts were others
