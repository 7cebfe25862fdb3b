"""A case or a figure over campaigns: its values, when they changed, and why. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure.case import Case
from wardian.measure.history.changes import Change, explained, of_campaigns
from wardian.measure.store.model import Campaign, Figure, Moment

SIGNS = {"good": "+", "bad": "x", "broken": "!", "absent": "."}
STRIP = 60


class Span(NamedTuple):
    """Consecutive campaigns with the same value; ``changes`` happened between the span before and
    this one. ``unexplained``: the value changed, and no dependency did."""

    value: str
    health: str
    first: Campaign
    last: Campaign
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    changes: tuple[Change, ...] = ()
    unexplained: bool = False

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "value": self.value,
            "health": self.health,
            "first": {"night": self.first.night, "campaign": self.first.uid},
            "last": {"night": self.last.night, "campaign": self.last.uid},
            "count": self.count,
            "changes": [one._asdict() for one in self.changes],
            "unexplained": self.unexplained,
        }


def value_of(moment: Moment) -> str:
    """Status and errno: results with the same value count as equal."""
    return f"{moment.status} {moment.errno}" if moment.errno else moment.status


def spans(
    case: Case,
    moments: Sequence[Moment],
    campaigns: Mapping[int, Campaign],
    dependencies: Mapping[str, Mapping[str, str]],
) -> list[Span]:
    """Oldest first."""
    found: list[Span] = []
    before: Moment | None = None
    for moment in moments:
        campaign = campaigns[moment.campaign_id]
        if found and before is not None and value_of(before) == value_of(moment):
            found[-1] = found[-1]._replace(last=campaign, count=found[-1].count + 1)
        else:
            changes, flaky = (
                explained(before, moment, case, campaigns, dependencies)
                if before is not None
                else ((), False)
            )
            value = value_of(moment)
            found.append(Span(value, moment.health, campaign, campaign, 1, changes, flaky))
        before = moment
    return found


def flipping(moments: Sequence[Moment]) -> list[str]:
    """The keys of the results on both sides of each flip."""
    keys = []
    for one, other in itertools.pairwise(moments):
        if value_of(one) != value_of(other):
            keys += [one.key, other.key]
    return keys


def figure_spans(figures: Sequence[Figure], campaigns: Mapping[int, Campaign]) -> list[Span]:
    """The spans of one figure in one sandbox, oldest first."""
    found: list[Span] = []
    for figure in figures:
        campaign = campaigns[figure.campaign_id]
        value = number(figure.value)
        if found and found[-1].value == value:
            found[-1] = found[-1]._replace(last=campaign, count=found[-1].count + 1)
        else:
            changes = tuple(of_campaigns(found[-1].last, campaign)) if found else ()
            found.append(Span(value, "", campaign, campaign, 1, changes))
    return found


def strip(moments: Sequence[Moment]) -> str:
    """One sign for each of the last campaigns."""
    return "".join(SIGNS[one.health] for one in moments[-STRIP:])


def number(value: float) -> str:
    """Without a fraction where there is none."""
    return str(int(value)) if value == int(value) else f"{value:.4g}"
