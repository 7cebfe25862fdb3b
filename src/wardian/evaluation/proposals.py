"""What would mend a finding: changes drawn from its evidence, each tried on the failing cases."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from wardian.errors import WardianError
from wardian.evaluation.changes import Change
from wardian.evaluation.findings import Trouble
from wardian.evaluation.inventory import sources
from wardian.evaluation.model import Campaign, health
from wardian.evaluation.patches import Edit, patch
from wardian.evaluation.performing import perform
from wardian.evaluation.policy_edit import with_lines
from wardian.evaluation.preparing import Prepared
from wardian.evaluation.reading import Reader
from wardian.evaluation.surroundings import fitted
from wardian.evaluation.units import Unit
from wardian.sandbox.policy import Policy
from wardian.sandbox.policy_file import parse_policy

MAX_TRIED = 12  # cases of one finding
NEW_POLICY = "policy.toml"
Payload = Mapping[str, Any]
Given = Callable[[Unit], Payload]
Campaigns = Mapping[int, Campaign]


class Candidate(NamedTuple):
    """A change of files; ``given`` is what a unit gets where it is in force, for the while of a
    ``with``."""

    what: str
    title: str
    edits: tuple[Edit, ...]
    given: Callable[[], Any]


class Tried(NamedTuple):
    """What came of the failing cases under a change."""

    candidate: Candidate
    outcomes: tuple[tuple[tuple[str, str, str], str], ...]
    skipped: int

    @property
    def mends(self) -> bool:
        """All of them were as they should be."""
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
    prepared: Prepared,
    store: Reader,
    campaigns: Mapping[int, Campaign],
) -> list[Tried]:
    """Every change that might mend these, tried; stops at the second that does."""
    units = {one.case.identity: one for one in prepared.units}
    failing = [units[t.result.case.identity] for t in troubles if t.result.case.identity in units]
    found: list[Tried] = []
    if not failing:
        return found
    for candidate in _candidates(troubles, prepared, store, campaigns):
        found.append(tried(candidate, failing))
        if sum(one.mends for one in found) == 2:
            break
    return sorted(found, key=lambda one: not one.mends)


def tried(candidate: Candidate, failing: Sequence[Unit]) -> Tried:
    """Run the failing cases where the change is in force."""
    chosen = failing[:MAX_TRIED]
    outcomes = []
    try:
        with candidate.given() as given:
            for unit in chosen:
                produced = perform(unit._replace(payload={**unit.payload, **given(unit)}))
                outcomes.append((unit.case.identity, produced[0].outcome.status))
    except (WardianError, OSError, ValueError):
        pass  # it can't be put in force, so it mends nothing
    return Tried(candidate, tuple(outcomes), len(failing) - len(chosen))


def _candidates(
    troubles: Sequence[Trouble],
    prepared: Prepared,
    store: Reader,
    campaigns: Mapping[int, Campaign],
) -> Iterator[Candidate]:
    if not all(one.own_fault for one in troubles):
        lines = _lines(troubles)
        if lines:
            yield from _policy_lines(lines, prepared)
    seen: set[tuple[str, str]] = set()
    for one in troubles:
        if one.difference is None or one.difference.before is None:
            continue
        before = campaigns.get(one.difference.before.campaign_id)
        for change in one.difference.changes:
            if (change.what, change.before) not in seen:
                seen.add((change.what, change.before))
                yield from _reverted(change, one, prepared, store, before)


# Policy lines that refusals name


def _lines(troubles: Sequence[Trouble]) -> list[str]:
    found: dict[str, None] = {}
    for one in troubles:
        for refusal in one.refusals:
            allow = refusal.get("allow")
            if allow:
                found[str(allow["policy"])] = None
            elif one.result.case.kind == "probe" and refusal["kind"] in ("syscall", "process"):
                found[f'[syscalls]\nallow = ["{refusal["action"]}"]'] = None
    return list(found)


def _policy_lines(lines: Sequence[str], prepared: Prepared) -> Iterator[Candidate]:
    """All together, as each may be needed; what only one of them would give comes with a try of
    its own, the first being the likeliest."""
    for ones in dict.fromkeys((tuple(lines[:1]), tuple(lines))):
        path, text = _policy_file(prepared)
        try:
            new = text or ""
            for one in ones:
                new = with_lines(new, one)
            policy = parse_policy(new, path, Policy.default())
        except (WardianError, ValueError):
            continue
        edit = Edit(_shown(path), text, new)
        told = " and ".join(" ".join(one.split()) for one in ones)
        yield Candidate("policy", f"allow it in the policy: {told}", (edit,), _under(policy))


def _policy_file(prepared: Prepared) -> tuple[str, str | None]:
    """Where the policy stands, and its text; where it would stand if there is no file yet."""
    given = prepared.config.policy
    if "/" in given:
        with open(given, encoding="utf-8") as file:
            return given, file.read()
    place = os.path.dirname(prepared.config.path) if prepared.config.path else os.getcwd()
    return os.path.join(place, NEW_POLICY), None


def _under(policy: Policy) -> Callable[[], Any]:
    @contextmanager
    def given() -> Iterator[Given]:
        yield lambda unit: {"policy": fitted(unit.case.sandbox, policy).to_toml()}

    return given


# What changed, taken back


def _reverted(
    change: Change, one: Trouble, prepared: Prepared, store: Reader, before: Campaign | None
) -> Iterator[Candidate]:
    case = one.result.case
    if change.what == "policy":
        files = store.sources(change.before)
        path, text = _policy_file(prepared)
        if files is None or text is None:
            return
        old = next(iter(files.values()), "")
        policy = parse_policy(old, path, Policy.default())
        edit = Edit(_shown(path), text, old)
        yield Candidate("policy", "take the change of the policy back", (edit,), _under(policy))
    elif change.what == "skill":
        yield from _skill_reverted(change, case.group, prepared, store)
    elif change.what == "specimen":
        yield from _specimen_reverted(change, case.name, prepared, store)
    elif change.what == "expectation" and before is not None:
        yield from _profile_reverted(case.sandbox, prepared, store, before)


def _skill_reverted(
    change: Change, name: str, prepared: Prepared, store: Reader
) -> Iterator[Candidate]:
    entry = next((one for one in prepared.entries if one.name == name), None)
    old, new = store.sources(change.before), sources(entry.path) if entry is not None else None
    if entry is None or old is None or new is None:
        return
    edits = tuple(
        Edit(_shown(os.path.join(entry.path, path)), new.get(path), old.get(path))
        for path in sorted({**old, **new})
        if old.get(path) != new.get(path)
    )

    @contextmanager
    def given() -> Iterator[Given]:
        with tempfile.TemporaryDirectory(prefix="wardian-revert-") as place:
            folder = os.path.join(place, os.path.basename(entry.path))
            shutil.copytree(entry.path, folder, symlinks=True)
            for path in {**old, **new}:
                _put(os.path.join(folder, path), old.get(path))
            yield lambda unit: {"skill": folder} if unit.case.group == name else {}

    yield Candidate("skill", f"take the change of the skill {name} back", edits, given)


def _put(path: str, text: str | None) -> None:
    """The file with that text, its mode as it is; without one, no file."""
    if text is None:
        os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _specimen_reverted(
    change: Change, name: str, prepared: Prepared, store: Reader
) -> Iterator[Candidate]:
    old = store.sources(change.before)
    specimen = next((one for one in prepared.specimens if one.id == name), None)
    if specimen is None or not old:
        return
    path, text = next(iter(old.items()))
    with open(specimen.source, encoding="utf-8") as file:
        now = file.read()

    @contextmanager
    def given() -> Iterator[Given]:
        with tempfile.TemporaryDirectory(prefix="wardian-revert-") as place:
            root = os.path.join(place, "probes")
            shutil.copytree(specimen.root, root)
            _put(os.path.join(root, path), text)
            yield lambda unit: {"root": root} if unit.case.name == name else {}

    edit = Edit(_shown(specimen.source), now, text)
    yield Candidate("specimen", f"take the change of {path} back", (edit,), given)


def _profile_reverted(
    sandbox: str, prepared: Prepared, store: Reader, before: Campaign
) -> Iterator[Candidate]:
    from wardian.probes.expectations import profile_path

    old = store.sources(before.versions.get(f"profile:{sandbox}", ""))
    path = profile_path(prepared.profiles[sandbox])
    if not old:
        return
    text = next(iter(old.values()))
    with open(path, encoding="utf-8") as file:
        now = file.read()

    @contextmanager
    def given() -> Iterator[Given]:
        with tempfile.TemporaryDirectory(prefix="wardian-revert-") as place:
            copied = os.path.join(place, os.path.basename(path))
            _put(copied, text)
            yield lambda unit: {"profile": copied} if unit.case.sandbox == sandbox else {}

    edit = Edit(_shown(path), now, text)
    yield Candidate("expectation", "take the change of what is expected back", (edit,), given)


def _shown(path: str) -> str:
    """As a patch names it: from the top of the repository that it lies in, or from here."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    top = None
    try:
        done = subprocess.run(
            ["git", "-C", folder, "rev-parse", "--show-toplevel"], capture_output=True, text=True,
            timeout=20, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        top = done.stdout.strip() if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired):
        pass
    shown = os.path.relpath(path, top or os.getcwd())
    return shown if not shown.startswith("..") else path.lstrip("/")
