"""Proposals that revert what changed since a case last worked: policy, skill, specimen, profile."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from wardian.errors import UsageError
from wardian.measure.campaign.plan import CampaignPlan
from wardian.measure.campaign.units import Unit
from wardian.measure.findings.patches import Edit
from wardian.measure.findings.proposal import Given, Proposal, of_policy, policy_file, shown
from wardian.measure.findings.troubles import Trouble
from wardian.measure.history.changes import Change
from wardian.measure.probes.expectations import profile_path
from wardian.measure.probes.specimen import MAX_BYTES
from wardian.measure.skills.inventory import sources
from wardian.measure.store.model import Campaign
from wardian.measure.store.reading import StoreReader
from wardian.runner.outputs import folder_in
from wardian.sandbox.files.files import Files
from wardian.sandbox.policy.file import parse_policy
from wardian.sandbox.policy.policy import Policy
from wardian.skills.reading import read_inside


def reverted(
    change: Change,
    one: Trouble,
    plan: CampaignPlan,
    store: StoreReader,
    before: Campaign | None,
) -> Iterator[Proposal]:
    """The proposal that reverts this change, if the store has the earlier files. ``before`` is the
    campaign in which the case last worked."""
    case = one.result.case
    if change.what == "policy":
        yield from _policy_reverted(change, plan, store)
    elif change.what == "skill":
        yield from _skill_reverted(change, case.group, plan, store)
    elif change.what == "specimen":
        yield from _specimen_reverted(change, case.name, plan, store)
    elif change.what == "expectation" and before is not None:
        yield from _profile_reverted(case.sandbox, plan, store, before)


def _policy_reverted(change: Change, plan: CampaignPlan, store: StoreReader) -> Iterator[Proposal]:
    files = store.sources(change.before)
    path, text = policy_file(plan)
    if files is None or text is None:
        return
    old = next(iter(files.values()), "")
    policy = parse_policy(old, path, Policy.default())
    edit = Edit(shown(path), text, old)
    yield of_policy("revert the change of the policy", [edit], policy, plan.policy)


def _skill_reverted(
    change: Change, name: str, plan: CampaignPlan, store: StoreReader
) -> Iterator[Proposal]:
    entry = next((one for one in plan.entries if one.name == name), None)
    old, new = store.sources(change.before), sources(entry.path) if entry is not None else None
    if entry is None or old is None or new is None:
        return
    edits = tuple(
        Edit(shown(os.path.join(entry.path, path)), new.get(path), old.get(path))
        for path in sorted({**old, **new})
        if old.get(path) != new.get(path)
    )
    files = {path: old.get(path) for path in {**old, **new}}
    given = _copy(entry.path, files, "skill", lambda unit: unit.case.group == name)
    yield Proposal("skill", f"revert the change of the skill {name}", edits, given)


def _specimen_reverted(
    change: Change, name: str, plan: CampaignPlan, store: StoreReader
) -> Iterator[Proposal]:
    old = store.sources(change.before)
    specimen = next((one for one in plan.specimens if one.id == name), None)
    if specimen is None or not old:
        return
    path, text = next(iter(old.items()))
    now = read_inside(specimen.root, specimen.path, MAX_BYTES).decode("utf-8")
    edit = Edit(shown(specimen.source), now, text)
    given = _copy(specimen.root, {path: text}, "root", lambda unit: unit.case.name == name)
    yield Proposal("specimen", f"revert the change of {path}", (edit,), given)


def _profile_reverted(
    sandbox: str, plan: CampaignPlan, store: StoreReader, before: Campaign
) -> Iterator[Proposal]:
    old = store.sources(before.versions.get(f"profile:{sandbox}", ""))
    path = profile_path(plan.profiles[sandbox])
    if not old:
        return
    text = next(iter(old.values()))
    with open(path, encoding="utf-8") as file:
        edit = Edit(shown(path), file.read(), text)

    given = _copy(path, {"": text}, "profile", lambda unit: unit.case.sandbox == sandbox)
    yield Proposal("expectation", "revert the change of the expectation", (edit,), given)


def _copy(
    source: str, files: Mapping[str, str | None], key: str, concerns: Callable[[Unit], bool]
) -> Callable[[], AbstractContextManager[Given]]:
    """For the duration of a ``with``: a copy of a folder with these files in place of its own (or
    of a file, whose name is empty), named ``key`` to the units that it concerns."""

    @contextmanager
    def given() -> Iterator[Given]:
        with tempfile.TemporaryDirectory(prefix="wardian-revert-") as made:
            place = os.path.join(os.path.realpath(made), os.path.basename(source))
            folder = os.path.isdir(source)
            if folder:
                shutil.copytree(source, place, symlinks=True)
            root = place if folder else os.path.dirname(place)
            for path, text in files.items():
                _put(root, path or os.path.basename(source), text)
            yield lambda unit: {key: place} if concerns(unit) else {}

    return given


def _put(root: str, path: str, text: str | None) -> None:
    """The file with that text, its mode as it is; without one, no file. Below ``root``, whatever
    links the skill has there. Raises OSError, UsageError."""
    parent, _, name = path.rpartition("/")
    if ".." in path.split("/") or path.startswith("/"):
        raise UsageError(f"{path!r} is not a path below a skill")
    if text is None:
        folder = folder_in(root, parent)
        try:
            os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)
        return
    place = os.path.join(root, path)
    executable = os.path.lexists(place) and bool(os.lstat(place).st_mode & 0o111)
    Files.below(root).write(path, text, executable=executable)
