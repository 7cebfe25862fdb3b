"""A change of files that might fix a finding, and how it is applied for a try."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from wardian.measure.campaign.config import DEFAULT_FILE
from wardian.measure.campaign.plan import CampaignPlan
from wardian.measure.campaign.units import Unit
from wardian.measure.findings.patches import Edit
from wardian.sandbox.policy.difference import differences
from wardian.sandbox.policy.policy import Policy

NEW_POLICY = "policy.toml"
Payload = Mapping[str, Any]
Given = Callable[[Unit], Payload]


class Proposal(NamedTuple):
    """A change of files; ``given`` is a context manager with the payload that a unit gets while
    the change is applied. ``widens``: units get rights that they do not have now."""

    what: str
    title: str
    edits: tuple[Edit, ...]
    given: Callable[[], Any]
    widens: bool = False


def policy_file(plan: CampaignPlan) -> tuple[str, str | None]:
    """The path of the policy file and its text; None for the text if there is no file yet."""
    given = plan.config.policy
    if "/" in given:
        with open(given, encoding="utf-8") as file:
            return given, file.read()
    return os.path.join(os.path.dirname(config_file(plan)), NEW_POLICY), None


def config_file(plan: CampaignPlan) -> str:
    """The path of nightly.toml, whether it exists or not."""
    return plan.config.path or os.path.join(os.getcwd(), DEFAULT_FILE)


def of_policy(title: str, edits: Sequence[Edit], policy: Policy, now: Policy) -> Proposal:
    """A proposal to use this policy."""

    @contextmanager
    def given() -> Iterator[Given]:
        yield lambda unit: {"policy": policy}

    wider = any(one.more != "a" for one in differences(now, policy))
    return Proposal("policy", title, tuple(edits), given, wider)


def shown(path: str) -> str:
    """The path in a patch: relative to the top of its repository, or to the current directory."""
    path = os.path.realpath(path)
    top = _top_of_repository(os.path.dirname(path))
    near = os.path.relpath(path, top or os.getcwd())
    return near if not near.startswith("..") else path.lstrip("/")


def _top_of_repository(folder: str) -> str | None:
    """Without git, which would read settings there and may execute what they name."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
