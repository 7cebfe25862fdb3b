"""Unexpected results → findings: grouped by cause, ranked, with evidence. Pure.

critical   a skill does not work because of the sandbox, or a wall does not hold
high       several skills or interpreters need it, or a skill fails by itself
medium     something else stopped working, or differs from the host
low        known before and needed by nobody, or in another sandbox than wardian
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure.campaign.units import OURS
from wardian.measure.findings.troubles import Trouble, cause
from wardian.measure.history.comparison import CaseDifference, Comparison
from wardian.measure.refused import stored
from wardian.measure.store.model import SEVERITIES, Finding, Measurement
from wardian.measure.target import HOST
from wardian.sandbox.run.result import Refusal
from wardian.syscalls.knowledge import known

SHOWN_CASES = 50
WALLS = {
    "syscall": "the syscall filter",
    "process": "the syscall filter",
    "file": "its own root",
    "network": "its own network",
    "limit": "its limits",
}
CAPABILITY = "syscall_"
_VARYING = re.compile(r"(?:/[\w.+-]+)+|\d+|0x[0-9a-f]+")  # what differs from run to run


class CallUsers(NamedTuple):
    """The skills that were traced making a system call, and the languages of their scripts."""

    skills: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()


def users(results: Iterable[Measurement]) -> dict[str, CallUsers]:
    """System call → its users, from the traces of skills' cases."""
    found: dict[str, CallUsers] = {}
    for one in results:
        if one.case.kind == "trace":
            language = str(one.case.about.get("language", ""))
            for name in one.outcome.evidence.get("syscalls", []):
                use = found.get(name, CallUsers())
                found[name] = CallUsers(use.skills | {one.case.group}, use.languages | {language})
    return found


def findings(
    troubles: Sequence[Trouble], comparison: Comparison, using: Mapping[str, CallUsers]
) -> list[tuple[Finding, list[Trouble]]]:
    """The worst first, each with its troubles."""
    groups: dict[tuple[str, ...], list[Trouble]] = {}
    for one in troubles:
        groups.setdefault(_cause(one), []).append(one)
    found = [_finding(key, ones, using) for key, ones in groups.items()]
    gone: dict[tuple[str, str, str], list[CaseDifference]] = {}
    for each in comparison.of("vanished"):
        if each.case.kind != "check":
            key = (each.case.kind, each.case.group, each.case.sandbox)
            gone.setdefault(key, []).append(each)
    found += [(_vanished(key, ones), []) for key, ones in gone.items()]
    return sorted(found, key=lambda one: (SEVERITIES.index(one[0].severity), one[0].slug))


def _cause(one: Trouble) -> tuple[str, ...]:
    """The key by which troubles with the same cause are grouped."""
    case = one.result.case
    if one.own_fault:
        return "skill", case.group
    if case.kind == "skill" and one.refusals:
        return "refused", case.sandbox, *cause(one.refusals[0])
    if case.kind == "probe" and one.result.status == "blocked_unexpected" and one.refusals:
        return "refused", case.sandbox, *cause(one.refusals[0])
    changed = [change.what for change in one.difference.changes] if one.difference else []
    if changed and case.kind == "probe" and "specimen" not in changed:
        return "changed", case.sandbox, one.result.status, *changed
    if case.kind == "probe" and one.result.health == "broken":
        plain = _VARYING.sub("…", one.result.outcome.cause)[:80]
        return "broken", case.sandbox, one.result.status, plain
    if case.kind == "skill":
        return "case", case.sandbox, case.group
    if case.kind == "suite":
        return "suite", case.sandbox, case.group
    return case.kind, case.name, case.sandbox


def _finding(
    key: tuple[str, ...], ones: list[Trouble], using: Mapping[str, CallUsers]
) -> tuple[Finding, list[Trouble]]:
    skills = sorted({t.result.case.group for t in ones if t.result.case.kind == "skill"})
    refusal = _refusal(ones) if key[0] == "refused" else None
    calls = _calls(ones, refusal)
    needed = CallUsers(
        frozenset(skill for name in calls for skill in using.get(name, CallUsers()).skills),
        frozenset(
            language for name in calls for language in using.get(name, CallUsers()).languages
        ),
    )
    document = {
        "cases": [_case(one) for one in ones[:SHOWN_CASES]],
        "count": len(ones),
        "skills": skills,
        "needed_by": sorted(needed.skills),
        "interpreters": sorted(needed.languages),
        "calls": calls,
        "wall": WALLS.get(refusal.kind, "") if refusal is not None else "",
        "refusal": stored(refusal) if refusal is not None else None,
        "changes": _changes(ones),
        "since": min(one.since for one in ones),
        "unexplained": all(one.difference is not None and one.difference.unexplained
                           for one in ones),
        "proposal": None,
    }  # fmt: skip
    title = _title(key, ones, skills, refusal)
    severity = _severity(ones, needed, much_used=_much_used(calls))
    return Finding(0, slug_of(key), severity, title, _explained(ones, refusal), document), ones


def _refusal(ones: Sequence[Trouble]) -> Refusal:
    """The refusal they share, with its reason where one of them has it: artifacts have none."""
    first = [one.refusals[0] for one in ones]
    return next((one for one in first if one.reason), first[0])


def slug_of(key: Iterable[str]) -> str:
    """A name that is stable across campaigns, and valid as a file name."""
    parts = [part for part in key if part]
    plain = re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")[:60]
    return f"{plain}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:6]}"


def _calls(ones: Sequence[Trouble], refusal: Refusal | None) -> list[str]:
    found = {
        one.result.case.capability.removeprefix(CAPABILITY)
        for one in ones
        if one.result.case.capability.startswith(CAPABILITY)
    }
    if refusal is not None and refusal.kind in ("syscall", "process"):
        found.add(refusal.action)
    return sorted(found)


def _case(one: Trouble) -> dict[str, Any]:
    result, before = one.result, one.difference.before if one.difference is not None else None
    return {
        "kind": result.case.kind,
        "name": result.case.name,
        "sandbox": result.case.sandbox,
        "status": result.status,
        "before": before.status if before is not None else None,
        "cause": result.outcome.cause,
        "detail": result.outcome.detail,
        "since": one.since,
        "on_host": one.on_host,
    }


def _changes(ones: Sequence[Trouble]) -> list[dict[str, str]]:
    found = {
        change: None for one in ones if one.difference is not None
        for change in one.difference.changes
    }  # fmt: skip
    return [{**change._asdict(), "text": str(change)} for change in found]


def _severity(ones: Sequence[Trouble], needed: CallUsers, *, much_used: bool) -> str:
    ours = any(one.sandbox == OURS for one in ones)
    several = much_used or len(needed.skills) > 1 or len(needed.languages) > 1
    worst = min(SEVERITIES.index(_of_one(one, needed, several=several)) for one in ones)
    return SEVERITIES[worst if ours else min(worst + 1, len(SEVERITIES) - 1)]


def _of_one(one: Trouble, needed: CallUsers, *, several: bool) -> str:
    case, status = one.result.case, one.result.status
    if case.sandbox == HOST and case.kind != "skill":
        return "low"
    if case.kind == "skill" and status == "error" and case.sandbox != OURS:
        return "medium"  # the sandbox could not be set up, so nothing is known of the skill
    if case.kind == "skill":
        return "high" if one.own_fault else "critical"
    if status == "allowed_unexpected":
        return "critical"
    if several:
        return "high"
    regressed = one.difference is not None and one.difference.kind == "regressed"
    return "medium" if regressed or needed.skills or case.kind == "suite" else "low"


def _much_used(calls: Sequence[str]) -> bool:
    """Do several interpreters make one of these calls?"""
    return any(known()[name].by_use in ("critical", "high") for name in calls if name in known())


def _title(
    key: tuple[str, ...], ones: Sequence[Trouble], skills: Sequence[str], refusal: Refusal | None
) -> str:
    case = ones[0].result.case
    if refusal is not None:
        what = " ".join(cause(refusal)[1:]).strip()
        hit = f"{_several(skills, 'skill')} fail{'s' if len(skills) == 1 else ''}" if skills else (
            f"{_several([one.result.case.name for one in ones], 'probe')}"
            f" {'is' if len(ones) == 1 else 'are'} blocked"
        )  # fmt: skip
        return f"{case.sandbox} refuses {what}: {hit}"
    if key[0] == "skill":
        return f"the skill {case.group} fails, also without a sandbox"
    if key[0] == "case":
        return f"the skill {case.group} fails in {case.sandbox}"
    if key[0] in ("changed", "broken"):
        names = _several([one.result.case.name for one in ones], "probe")
        return f"{names} {_came_to(ones[0], len(ones))}"
    if key[0] == "suite":
        many = "1 case does" if len(ones) == 1 else f"{len(ones)} cases do"
        return f"{case.group}: {many} not pass in {case.sandbox}"
    return f"{case.name} {_came_to(ones[0])}"


def _came_to(one: Trouble, count: int = 1) -> str:
    """``is blocked in gvisor and should work``."""
    status, sandbox = one.result.status, one.sandbox
    verb = "is" if count == 1 else "are"
    if status == "blocked_unexpected":
        return f"{verb} blocked in {sandbox} and should work"
    if status == "allowed_unexpected":
        return f"{verb} allowed in {sandbox} and should be blocked"
    return f"gave no outcome in {sandbox}: {status.replace('_', ' ')}"


def _several(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} {word}s"


def _explained(ones: Sequence[Trouble], refusal: Refusal | None) -> str:
    """The cause in a sentence or two."""
    parts = []
    if refusal is not None:
        reason = f": {refusal.reason}" if refusal.reason else ""
        parts.append(f"{WALLS.get(refusal.kind, 'a wall')} refuses it{reason}")
    elif ones[0].result.outcome.cause:
        parts.append(ones[0].result.outcome.cause)
    changes = _changes(ones)
    if changes:
        parts.append("changed since it last worked: " + "; ".join(one["text"] for one in changes))
    elif ones[0].difference is not None and ones[0].difference.unexplained:
        parts.append("flaky: nothing it depends on changed")
    return ". ".join(parts)


def _vanished(key: tuple[str, str, str], ones: Sequence[CaseDifference]) -> Finding:
    kind, group, sandbox = key
    what = ones[0].case.name if len(ones) == 1 else f"{len(ones)} cases of {group}"
    cases = [
        {"kind": kind, "name": one.case.name, "sandbox": sandbox, "status": "vanished",
         "before": one.before.status if one.before is not None else ""}
        for one in ones[:SHOWN_CASES]
    ]  # fmt: skip
    document = {
        "cases": cases, "count": len(ones), "skills": [group] if kind == "skill" else [],
        "changes": [], "calls": [], "wall": "", "refusal": None, "proposal": None,
    }  # fmt: skip
    title = f"{what} no longer measured in {sandbox}"
    cause = "the last campaign measured it, and this one did not"
    return Finding(0, slug_of(("vanished", *key)), "low", title, cause, document)
