"""A change of files that might mend something, and how it is put in force for a try."""

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
    """A change of files; ``given`` is what a unit gets where it is in force, for the while of a
    ``with``. ``widens``: units get rights that they do not have now."""

    what: str
    title: str
    edits: tuple[Edit, ...]
    given: Callable[[], Any]
    widens: bool = False


def policy_file(plan: CampaignPlan) -> tuple[str, str | None]:
    """Where the policy stands, and its text; where it would stand if there is no file yet."""
    given = plan.config.policy
    if "/" in given:
        with open(given, encoding="utf-8") as file:
            return given, file.read()
    return os.path.join(os.path.dirname(config_file(plan)), NEW_POLICY), None


def config_file(plan: CampaignPlan) -> str:
    """What says what is measured, whether it is there or not."""
    return plan.config.path or os.path.join(os.getcwd(), DEFAULT_FILE)


def of_policy(title: str, edits: Sequence[Edit], policy: Policy, now: Policy) -> Proposal:
    """Units under another policy."""

    @contextmanager
    def given() -> Iterator[Given]:
        yield lambda unit: {"policy": policy}

    wider = any(one.more != "a" for one in differences(now, policy))
    return Proposal("policy", title, tuple(edits), given, wider)


def shown(path: str) -> str:
    """As a patch names it: from the top of the repository that it lies in, or from here."""
    path = os.path.realpath(path)
    top = _top_of_repository(os.path.dirname(path))
    near = os.path.relpath(path, top or os.getcwd())
    return near if not near.startswith("..") else path.lstrip("/")


def _top_of_repository(folder: str) -> str | None:
    """By looking: git itself would read settings that lie there, and may execute what they name."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
