"""Changes that might fix a finding, derived from its evidence, each tried on the failing cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.errors import WardianError
from wardian.measure.campaign.performing import perform
from wardian.measure.campaign.plan import CampaignPlan
from wardian.measure.campaign.trust import is_ours
from wardian.measure.campaign.units import Unit
from wardian.measure.findings.patches import Edit, patch
from wardian.measure.findings.policy_edit import with_lines, with_value
from wardian.measure.findings.proposal import (
    NEW_POLICY,
    Proposal,
    config_file,
    of_policy,
    policy_file,
    shown,
)
from wardian.measure.findings.reverting import reverted
from wardian.measure.findings.troubles import Trouble
from wardian.measure.outcome import health
from wardian.measure.store.model import Campaign
from wardian.measure.store.reading import StoreReader
from wardian.sandbox.policy.file import parse_policy
from wardian.sandbox.policy.policy import Policy

MAX_TRIED = 12  # cases of one finding
Campaigns = Mapping[int, Campaign]


class Tried(NamedTuple):
    """The outcomes of the failing cases under a change."""

    candidate: Proposal
    outcomes: tuple[tuple[tuple[str, str, str], str], ...]
    skipped: int

    @property
    def mends(self) -> bool:
        """All of them passed."""
        return bool(self.outcomes) and all(health(s) == "good" for _, s in self.outcomes)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "what": self.candidate.what,
            "title": self.candidate.title,
            "patch": patch(self.candidate.edits),
            "verified": self.mends,
            "tried": [
                {"kind": k, "name": n, "sandbox": s, "status": status}
                for (k, n, s), status in self.outcomes
            ],
            "not_tried": self.skipped,
        }


def proposals(
    troubles: Sequence[Trouble],
    plan: CampaignPlan,
    store: StoreReader,
    campaigns: Mapping[int, Campaign],
) -> list[Tried]:
    """Every change that might fix these, tried; stops at the second that does."""
    units = {one.case.identity: one for one in plan.units}
    failing = [units[t.result.case.identity] for t in troubles if t.result.case.identity in units]
    found: list[Tried] = []
    if not failing:
        return found
    for candidate in _candidates(troubles, plan, store, campaigns):
        found.append(tried(candidate, failing, try_wider=plan.config.try_wider))
        if sum(one.mends for one in found) == 2:
            break
    return sorted(found, key=lambda one: not one.mends)


def tried(candidate: Proposal, failing: Sequence[Unit], *, try_wider: bool = False) -> Tried:
    """Run the failing cases with the change applied.

    A skill decides itself what it is refused, so a refusal alone never widens its rights: a change
    that widens the policy is tried on code that ships with wardian, or if the caller says so.
    """
    if candidate.widens and not try_wider and not all(is_ours(one) for one in failing):
        return Tried(candidate, (), len(failing))
    chosen = failing[:MAX_TRIED]
    outcomes = []
    try:
        with candidate.given() as given:
            for unit in chosen:
                produced = perform(unit._replace(payload={**unit.payload, **given(unit)}))
                outcomes.append((unit.case.identity, produced[0].outcome.status))
    except (WardianError, OSError, ValueError):
        pass  # it can't be applied, so it fixes nothing
    return Tried(candidate, tuple(outcomes), len(failing) - len(chosen))


def _candidates(
    troubles: Sequence[Trouble],
    plan: CampaignPlan,
    store: StoreReader,
    campaigns: Mapping[int, Campaign],
) -> Iterator[Proposal]:
    if not all(one.own_fault for one in troubles):
        lines = _lines(troubles, plan.policy)
        if lines:
            yield from _policy_lines(lines, plan)
    seen: set[tuple[str, str]] = set()
    for one in troubles:
        if one.difference is None or one.difference.before is None:
            continue
        before = campaigns.get(one.difference.before.campaign_id)
        for change in one.difference.changes:
            if (change.what, change.before) not in seen:
                seen.add((change.what, change.before))
                yield from reverted(change, one, plan, store, before)


# Policy lines that refusals name


def _lines(troubles: Sequence[Trouble], policy: Policy) -> list[str]:
    """Policy lines that would allow what was refused: those that the refusals name, and for a
    call that the policy itself denies, the line that allows it."""
    found: dict[str, None] = {}
    for refusal in (refusal for one in troubles for refusal in one.refusals):
        if refusal.allow is not None:
            found[refusal.allow.policy] = None
        elif refusal.action in policy.deny_syscalls:
            found[f'[syscalls]\nallow = ["{refusal.action}"]'] = None
    return list(found)


def _policy_lines(lines: Sequence[str], plan: CampaignPlan) -> Iterator[Proposal]:
    """The likeliest alone, then all together."""
    path, text = policy_file(plan)
    preset = plan.config.policy if text is None else ""
    for ones in dict.fromkeys((tuple(lines[:1]), tuple(lines))):
        new = text if text is not None else plan.policy.to_toml() if preset else ""
        try:
            for one in ones:
                new = with_lines(new, one)
            policy = parse_policy(new, path, Policy.default())
        except (WardianError, ValueError):
            continue
        edits = [Edit(shown(path), text, new)]
        edits += [_named_in_config(plan)] if text is None else []
        added = " and ".join(" ".join(one.split()) for one in ones)
        yield of_policy(f"allow it in the policy: {added}", edits, policy, plan.policy)


def _named_in_config(plan: CampaignPlan) -> Edit:
    """nightly.toml with a line that names the new policy file."""
    path = config_file(plan)
    text = None
    if plan.config.path:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return Edit(shown(path), text, with_value(text or "", "policy", NEW_POLICY))
