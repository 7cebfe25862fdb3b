"""What a campaign will measure: skills, specimens and sandboxes made into units of work."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import NamedTuple

from wardian.errors import UsageError
from wardian.measure.campaign import units as making
from wardian.measure.campaign.config import Config, ConfigError
from wardian.measure.campaign.trust import may_run, not_run
from wardian.measure.campaign.units import Unit
from wardian.measure.campaign.workbench import Workbench, here, working_sandboxes
from wardian.measure.probes import expectations
from wardian.measure.probes.specimen import Specimen, find_specimens, probes_dir, select
from wardian.measure.skills.inventory import SkillEntry, inventory, sources
from wardian.measure.suites.programs import find_programs
from wardian.measure.target import Target, target
from wardian.sandbox.policy.difference import differences
from wardian.sandbox.policy.policy import Policy

SUITE_POLICY = "conformance"  # what `wardian suite run` takes, too
SUITE_TIMEOUT_S = 60.0


class CampaignPlan(NamedTuple):
    """All that a campaign will measure, and with what."""

    config: Config
    workbench: Workbench
    entries: tuple[SkillEntry, ...]
    specimens: tuple[Specimen, ...]
    targets: tuple[Target, ...]
    profiles: dict[str, str]
    policy: Policy
    units: tuple[Unit, ...]
    not_run: dict[str, str]  # step → why nothing of it runs, though there is something

    @property
    def sandboxes(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.targets)


def prepare(
    config: Config,
    shard: tuple[int, int] = (1, 1),
    elsewhere: tuple[Workbench, tuple[str, ...]] | None = None,
) -> CampaignPlan:
    """``shard`` is number and total, from 1 on; ``elsewhere`` describes the machine and the
    sandboxes that measure, if not this machine.

    Raises InputError, PolicyError, UsageError, NothingMatched.
    """
    making.forget_files()
    workbench, working = elsewhere or (here(), ())
    names = config.sandboxes or working or working_sandboxes()
    if not names:
        raise UsageError("no sandbox works here", hint="see: wardian doctor")
    policy = policy_of_config(config)
    roots = {probes_dir(), probes_dir(config.probes or None)}
    every = [one for root in sorted(roots) for one in find_specimens(root)]
    known = expectations.Known.of(every)
    given = dict(config.profiles)
    profiles = {name: given.get(name, expectations.default_profile(name)) for name in names}
    expected = {name: expectations.read_profile(profiles[name], known) for name in names}
    targets = tuple(target(name, policy) for name in names)
    chosen = select(find_specimens(probes_dir(config.probes or None)), config.select)
    entries = tuple(inventory(config.skills))
    found = making.of_specimens(
        chosen, targets, profiles, expected, workbench, config.timeout_s, policy
    )
    digests = {one.name: one.policy.digest for one in targets}
    for traced in (True, False):
        found += making.of_skills(entries, policy, digests, workbench, traced=traced)
    found += _of_suites(config, policy, names, workbench)
    if config.host_named:
        found = [one._replace(payload={**one.payload, "host_named": True}) for one in found]
    number, total = shard
    wanted = [one for one in found if may_run(one) and _shard(one, total) == number - 1]
    wanted.sort(key=lambda one: one.priority)
    return CampaignPlan(
        config, workbench, entries, tuple(chosen), targets, profiles, policy, tuple(wanted),
        not_run(found),
    )  # fmt: skip


def _of_suites(
    config: Config, policy: Policy, names: Iterable[str], workbench: Workbench
) -> list[Unit]:
    if not config.suites:
        return []
    wanted = policy if config.policy else Policy.preset(SUITE_POLICY)
    targets = [target(name, wanted) for name in names]
    programs = find_programs(config.suites).programs
    return making.of_suites(programs, targets, workbench, SUITE_TIMEOUT_S, wanted)


def policy_of_config(config: Config) -> Policy:
    """Raises PolicyError; ConfigError if a file that was only found names a wider policy than
    there is without it."""
    name = config.policy
    if not name:
        return Policy.default()
    policy = Policy.from_toml(name) if "/" in name else Policy.preset(name)
    if config.found:
        wider = [one for one in differences(Policy.default(), policy) if one.more == "b"]
        if wider:
            raise ConfigError(
                f"its policy allows more than the default: {wider[0].text}; a "
                "nightly.toml that was not named may only narrow what is measured",
                path=config.path,
                hint=f"if you trust it, name it: --config {config.path}",
            )
    return policy


def _shard(unit: Unit, total: int) -> int:
    """The same for a case in every sandbox, so that each can be compared where it is measured."""
    name = f"{unit.case.group}\0{unit.case.name.partition(':')[0]}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % total


# What results depend on, kept so that a change can be shown and reverted


def kept_sources(plan: CampaignPlan) -> Iterable[tuple[str, dict[str, str]]]:
    policy = plan.config.policy
    text = _text(policy) if "/" in policy else None
    for one in plan.targets:
        yield one.policy.digest, {os.path.basename(policy): text} if text is not None else {}
    for entry in plan.entries:
        files = sources(entry.path) if entry.digest else None
        if files is not None:
            yield entry.digest, files
    for specimen in plan.specimens:
        found = _text(specimen.source)
        if found is not None:
            yield making.specimen_digest(specimen), {specimen.path: found}
    for digest, (path, text) in (
        (digest, (path, _text(path))) for digest, path in profile_files(plan).values()
    ):
        if text is not None:
            yield digest, {os.path.basename(path): text}


def profile_files(plan: CampaignPlan) -> dict[str, tuple[str, str]]:
    """Sandbox → digest and path of the profile that stands for it."""
    found = {}
    for sandbox, name in plan.profiles.items():
        path = expectations.profile_path(name)
        text = _text(path)
        if text is not None:
            found[sandbox] = ("sha256:" + hashlib.sha256(text.encode()).hexdigest(), path)
    return found


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return None
