"""What the store holds, as values: campaigns, and what came of each case in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from wardian.measure.case import Case
from wardian.measure.outcome import Outcome, health

SEVERITIES = ("critical", "high", "medium", "low")


class Campaign(NamedTuple):
    """One evaluation on one machine. Times are UTC in ISO 8601; ``ended`` is empty while it runs.

    ``versions`` names what else the results depend on: sandboxes, interpreters, skills (by digest).
    """

    id: int
    uid: str
    kind: str
    night: str
    started: str
    ended: str
    state: str
    host: str
    kernel: str
    machine: str
    user_id: int
    wardian: str
    wardian_digest: str
    policy: str
    policy_digest: str
    config_digest: str
    versions: Mapping[str, str]
    shard: str
    owner: str


class Measurement(NamedTuple):
    """One case in one campaign. ``key`` names everything that it depends on; ``measured_in`` is
    the uid of the campaign that measured it, another one where the result was used again."""

    campaign_id: int
    case: Case
    outcome: Outcome
    outcome_id: int
    duration_s: float
    time: str
    key: str
    measured_in: str

    @property
    def status(self) -> str:
        return self.outcome.status

    @property
    def health(self) -> str:
        return self.outcome.health


class Moment(NamedTuple):
    """A result as a timeline needs it: equal outcomes have equal ids."""

    campaign_id: int
    outcome_id: int
    status: str
    observed: str | None
    errno: str | None
    time: str
    key: str = ""

    @property
    def health(self) -> str:
        return health(self.status)


class Figure(NamedTuple):
    """A number of a campaign. ``evidence`` selects the cases that it was computed from."""

    campaign_id: int
    name: str
    sandbox: str
    value: float
    unit: str = ""
    evidence: str = ""


class Finding(NamedTuple):
    """Something to act on. ``document`` holds evidence and the proposed change; ``slug`` is the
    same in every campaign for the same thing."""

    campaign_id: int
    slug: str
    severity: str
    title: str
    cause: str
    document: Mapping[str, Any]


class Step(NamedTuple):
    """A part of a campaign: how far it is, how many results were used again."""

    campaign_id: int
    name: str
    state: str
    started: str
    ended: str
    total: int
    done: int
    reused: int
    document: Mapping[str, Any]


def fields(one: Campaign | Figure | Finding | Step, *left_out: str) -> dict[str, Any]:
    """As JSON: without ids of this store and what is this machine's alone."""
    own = ("id", "campaign_id", "owner", "policy", *left_out)
    return {name: value for name, value in one._asdict().items() if name not in own}
