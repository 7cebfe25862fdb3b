"""An observation × an expectation → a status. Pure."""

from __future__ import annotations

import errno
from typing import Any, NamedTuple

OBSERVED = ("allowed", "blocked", "unavailable", "error")
EXPECTED = ("allowed", "blocked", "any")
ERRNOS = frozenset(errno.errorcode.values()) | {"EOPNOTSUPP", "EWOULDBLOCK", "EDEADLOCK"}
_SAME = {"EWOULDBLOCK": "EAGAIN", "ENOTSUP": "EOPNOTSUPP", "EDEADLOCK": "EDEADLK"}
OBSERVATION = "wardian.observation/1"


class ProbeExpectation(NamedTuple):
    """What should happen, and why. ``errno`` is empty where any will do."""

    expect: str = "allowed"
    reason: str = "an ordinary program may do this"
    errno: tuple[str, ...] = ()


class SpecimenCheck(NamedTuple):
    """One thing that a specimen of several looked at; ``ok`` is None where it can't be tested."""

    name: str
    ok: bool | None
    errno: str | None
    detail: str


class Observation(NamedTuple):
    """What happened."""

    observed: str
    errno: str | None = None
    detail: str = ""
    checks: tuple[SpecimenCheck, ...] = ()


class Verdict(NamedTuple):
    """``cause`` says in a sentence what is wrong, where something is."""

    status: str
    cause: str = ""


def same_errno(name: str) -> str:
    """One name for errnos that are equal."""
    return _SAME.get(name, name)


def judge(seen: Observation, wanted: ProbeExpectation) -> Verdict:
    """The status of an observation."""
    if seen.observed == "unavailable":
        return Verdict("unavailable", seen.detail)
    if seen.observed == "error":
        return Verdict("error", f"the specimen failed: {seen.detail}")
    if seen.observed == "allowed":
        if wanted.expect == "blocked":
            return Verdict("allowed_unexpected", f"should be blocked: {wanted.reason}")
        return Verdict("supported")
    if wanted.expect == "allowed":
        return Verdict("blocked_unexpected", f"should be allowed: {wanted.reason}")
    right = {same_errno(name) for name in wanted.errno}
    if right and (seen.errno is None or same_errno(seen.errno) not in right):
        names = " or ".join(wanted.errno)
        return Verdict("blocked_unexpected", f"blocked by {seen.errno or 'no errno'}, not {names}")
    return Verdict("blocked_expected")


def read_observation(document: Any, probe_id: str, capability: str) -> Observation:
    """What a specimen wrote, checked. Raises ValueError with what is wrong."""
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    for name in ("schema", "id", "capability", "observed", "detail"):
        if not isinstance(document.get(name), str):
            raise ValueError(f"`{name}` is missing or no text")
    for name, right in (("schema", OBSERVATION), ("id", probe_id), ("capability", capability)):
        if document[name] != right:
            raise ValueError(f"`{name}` is {document[name]!r}, not {right!r}")
    if document["observed"] not in OBSERVED:
        raise ValueError(f"`observed` is {document['observed']!r}")
    number = document.get("errno")
    if not _is_errno(number):
        raise ValueError(f"`errno` is {number!r}")
    checks = read_checks(document.get("checks", []))
    return Observation(document["observed"], number, document["detail"], checks)


def read_checks(documents: Any) -> tuple[SpecimenCheck, ...]:
    """The checks of an observation or an artifact. Raises ValueError with what is wrong."""
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise ValueError("`checks` must hold objects")
    for one in documents:
        if set(one) != set(SpecimenCheck._fields):
            raise ValueError(f"a check has {', '.join(SpecimenCheck._fields)}")
        if not isinstance(one["name"], str) or not isinstance(one["detail"], str):
            raise ValueError("`name` and `detail` of a check are texts")
        if not isinstance(one["ok"], bool | None):
            raise ValueError("`ok` of a check is true, false or null")
        if not _is_errno(one["errno"]):
            raise ValueError(f"`errno` of a check is {one['errno']!r}")
    return tuple(SpecimenCheck(**one) for one in documents)


def _is_errno(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value in ERRNOS)
