"""A campaign compared with the last known result of each case: flips, and what explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wardian.measure.case import Case, Identity
from wardian.measure.history.changes import Change, explained
from wardian.measure.history.timeline import value_of
from wardian.measure.store.model import Campaign, Measurement, Moment
from wardian.measure.store.reading import StoreReader

LOOKED_BACK = 30


class CaseDifference(NamedTuple):
    """``kind``: regressed, recovered, flipped (another status of the same health), appeared,
    vanished. ``unexplained``: no dependency of it changed."""

    kind: str
    case: Case
    before: Measurement | None
    after: Measurement | None
    changes: tuple[Change, ...] = ()
    unexplained: bool = False


class Comparison(NamedTuple):
    """``last`` is None for the first campaign. ``stable_since`` is the campaign since which no
    case flipped, and ``nights`` how many there are from it on, this one included."""

    last: Campaign | None
    differences: tuple[CaseDifference, ...]
    stable_since: Campaign | None
    nights: int
    flips: Mapping[Identity, str]  # case → the night since which its result is the same

    def of(self, *kinds: str) -> list[CaseDifference]:
        """The differences of these kinds."""
        return [one for one in self.differences if one.kind in kinds]

    @property
    def unchanged(self) -> bool:
        """No difference; cases that appeared or vanished are differences."""
        return self.last is not None and not self.differences


def comparable(store: StoreReader, campaign: Campaign) -> list[Campaign]:
    """Earlier campaigns of the same kind, architecture and user, oldest first."""
    return [
        one
        for one in store.campaigns(kind=campaign.kind, states=("finished", "partial"))
        if one.id != campaign.id
        and (one.started, one.id) < (campaign.started, campaign.id)
        and (one.machine, one.user_id) == (campaign.machine, campaign.user_id)
    ]


def compare(store: StoreReader, campaign: Campaign, *, whole: bool) -> Comparison:
    """``whole``: everything was measured, so a case without a result has vanished, unless the
    configuration no longer asks for it."""
    earlier = comparable(store, campaign)
    after = {one.case.identity: one for one in store.results(campaign.id)}
    before = _last_known(store, earlier, set(after))
    campaigns = {one.id: one for one in (*earlier, campaign)}
    found = [_difference(before.get(name), one) for name, one in after.items()]
    if whole and earlier and earlier[-1].config_digest == campaign.config_digest:
        gone = [r for r in store.results(earlier[-1].id) if r.case.identity not in after]
        found += [CaseDifference("vanished", one.case, one, None) for one in gone]
    differences = [one for one in found if one is not None and (earlier or one.before)]
    explained = _explained(store, differences, campaigns)
    since, nights, flips = _stability(store, campaign, earlier, after)
    return Comparison(earlier[-1] if earlier else None, tuple(explained), since, nights, flips)


def onsets(
    store: StoreReader, campaign: Campaign, results: Sequence[Measurement]
) -> dict[Identity, CaseDifference]:
    """For each unexpected result whose case once worked: the difference with which it stopped
    working, with the evidence of the last good result. Its changes still explain the failure."""
    earlier = comparable(store, campaign)
    campaigns = {one.id: one for one in (*earlier, campaign)}
    wrong = [one for one in results if one.health in ("bad", "broken")]
    timelines = store.timelines(case_ids=[one.case.id for one in wrong]) if wrong else {}
    found = []
    for one in wrong:
        moments = [m for m in timelines.get(one.case.id, []) if m.campaign_id in campaigns]
        well = max((i for i, m in enumerate(moments) if m.health == "good"), default=None)
        if well is None or well + 1 >= len(moments):
            continue
        before = store.result(moments[well].campaign_id, one.case.identity)
        after = store.result(moments[well + 1].campaign_id, one.case.identity)
        found.append(CaseDifference("regressed", one.case, before, after))
    return {one.case.identity: one for one in _explained(store, found, campaigns)}


def _last_known(
    store: StoreReader, earlier: Sequence[Campaign], wanted: set[Identity]
) -> dict[Identity, Measurement]:
    found: dict[Identity, Measurement] = {}
    for one in reversed(earlier[-LOOKED_BACK:]):
        if len(found) == len(wanted):
            break
        for result in store.results(one.id):
            if result.case.identity in wanted:
                found.setdefault(result.case.identity, result)
    return found


def _difference(before: Measurement | None, after: Measurement) -> CaseDifference | None:
    if before is None:
        return CaseDifference("appeared", after.case, None, after)
    if _seen(before) == _seen(after):
        return None
    if before.health == "good" and after.health != "good":
        kind = "regressed"
    elif before.health != "good" and after.health == "good":
        kind = "recovered"
    else:
        kind = "flipped"
    return CaseDifference(kind, after.case, before, after)


def _seen(result: Measurement) -> tuple[str, str | None, str | None]:
    return result.outcome.status, result.outcome.observed, result.outcome.errno


def _explained(
    store: StoreReader, differences: Sequence[CaseDifference], campaigns: Mapping[int, Campaign]
) -> list[CaseDifference]:
    both = [(one.before, one.after) for one in differences]
    keys = [side.key for pair in both if None not in pair for side in pair if side is not None]
    depends = store.dependencies(keys)
    found = []
    for one in differences:
        if one.before is None or one.after is None:
            found.append(one)
            continue
        changes, flaky = explained(one.before, one.after, one.case, campaigns, depends)
        found.append(one._replace(changes=changes, unexplained=flaky))
    return found


def _stability(
    store: StoreReader,
    campaign: Campaign,
    earlier: Sequence[Campaign],
    after: Mapping[Identity, Measurement],
) -> tuple[Campaign | None, int, dict[Identity, str]]:
    """The campaign since which nothing flipped, how many there are from it on, and the night since
    which each case's result is the same."""
    if not earlier:
        return None, 1, dict.fromkeys(after, campaign.night)
    order = {one.id: number for number, one in enumerate((*earlier, campaign))}
    every = (*earlier, campaign)
    timelines = store.timelines()
    flips: dict[Identity, str] = {}
    latest = 0
    for name, one in after.items():
        moments = [m for m in timelines.get(one.case.id, []) if m.campaign_id in order]
        first = _since(moments)
        if first is not None:
            flips[name] = every[order[first.campaign_id]].night
            if moments[0].campaign_id != first.campaign_id:
                latest = max(latest, order[first.campaign_id])
    return every[latest], len(every) - latest, flips


def _since(moments: Sequence[Moment]) -> Moment | None:
    """The first of the last moments that are equal."""
    first: Moment | None = None
    for moment in reversed(moments):
        if first is not None and value_of(moment) != value_of(first):
            break
        first = moment
    return first
