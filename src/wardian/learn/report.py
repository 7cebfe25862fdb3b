"""What was proven, as text and as a document. Pure, except for reading policies' paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wardian.learn.calls import counted
from wardian.learn.learned import ALLOWS, LEARNED, LearnedFile
from wardian.learn.proof import Learned
from wardian.learn.subjects import CaseSubject, Subject
from wardian.sandbox.policy.difference import NOUNS, differences
from wardian.sandbox.policy.policy import Policy

SCHEMA = "wardian.learn/1"


def passed(subjects: Sequence[Subject], runs: int) -> str:
    """``3 cases passed under it``, ``1 run passed under it, 5 times``."""
    cases = sum(isinstance(one, CaseSubject) for one in subjects)
    others = len(subjects) - cases
    counted = [f"{count} {word}{'s' if count != 1 else ''}"
            for count, word in ((others, "run"), (cases, "case")) if count]  # fmt: skip
    often = f", {runs} times each" if runs > 1 else ""
    return f"{' and '.join(counted)} passed under it{often}"


def gains(learned: Learned, arch: str) -> list[str]:
    """What it allows in place of what the runs were allowed; one phrase for each dimension."""
    allowed, policy = learned.draft.allowed, learned.policy
    now, there = counted(policy, arch)
    before, _ = counted(allowed, arch)
    found = [f"{now} of {there} system calls instead of {before}"]
    if policy.base is not None:
        count = len(policy.base)
        before_base = "all of /usr" if allowed.base is None else f"{len(allowed.base)}"
        found.append(f"{count} place{'s' if count != 1 else ''} instead of {before_base}")
    found.append(f"{_variables(policy)} of the caller's variables instead of {_variables(allowed)}")
    if policy.network != allowed.network:
        found.append(f"the network {policy.network!r} instead of {allowed.network!r}")
    found += [
        f"{spell(new)} {noun} instead of {spell(old)}"
        for (noun, spell), new, old in zip(
            NOUNS.values(), policy.limits, allowed.limits, strict=True
        )
        if new != old
    ]
    return found


def _variables(policy: Policy) -> int:
    return len({*policy.pass_env, *(name for name, _ in policy.set_env)})


def header(learned: Learned, what: str, version: str, arch: str) -> list[str]:
    """The comment at the head of the file."""
    lines = [f"{LEARNED} {version} from {what}."]
    lines.append(f"Proven: {passed(learned.subjects, learned.runs)}. {ALLOWS}")
    lines += [f"  {gain}" for gain in gains(learned, arch)]
    lines += [f"At another try only: {name}" for name in learned.at_another_try]
    lines += [f"Not learned from {name}: {why}" for name, why in learned.left_out]
    return lines


def addition_header(learned: Learned, what: str, version: str) -> list[str]:
    """What the comment says besides, once something is added."""
    proven = passed(learned.subjects, learned.runs)
    return [f"Added by wardian {version} from {what}: {proven}."]


def diff(before: str, after: str, name: str) -> list[str]:
    """The lines that differ, as a unified diff."""
    import difflib

    lines = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(*lines, name, name, lineterm="", n=0))


def addition_document(file: LearnedFile, policy: Policy, content: str) -> dict[str, Any]:
    """What --add puts into the document besides (docs/learn.md)."""
    found = differences(file.policy, policy)
    return {
        "added": [one._asdict() for one in found],
        "diff": diff(file.text, content, file.path),
    }


def document(learned: Learned, content: str, arch: str) -> dict[str, Any]:
    """As JSON (docs/learn.md)."""
    now, there = counted(learned.policy, arch)
    found = differences(learned.draft.allowed, learned.policy)
    return {
        "schema": SCHEMA,
        "policy": content,
        "digest": learned.policy.digest,
        "proven": [one.name for one in learned.subjects],
        "runs": learned.runs,
        "rounds": learned.rounds,
        "at_another_try": list(learned.at_another_try),
        "left_out": [{"name": name, "why": why} for name, why in learned.left_out],
        "syscalls": {
            "allowed": now,
            "of": there,
            "before": counted(learned.draft.allowed, arch)[0],
        },
        "places": list(learned.policy.base) if learned.policy.base is not None else None,
        "endpoints": sorted(learned.draft.needs.endpoints),
        "peaks": learned.draft.needs.peaks,
        "differences": [one._asdict() for one in found],
    }
