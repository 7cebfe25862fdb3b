"""Perform one unit of work in this process; failures become outcomes, never exceptions."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from wardian.errors import WardianError
from wardian.measure.campaign import trust
from wardian.measure.campaign.units import Unit
from wardian.measure.case import Case
from wardian.measure.outcome import STORED, Outcome
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.expectations import Profile, read_profile
from wardian.measure.probes.running import measure_one
from wardian.measure.probes.specimen import read_specimen
from wardian.measure.probes.witnesses import witnesses
from wardian.measure.refused import stored
from wardian.measure.skills.running import measure_case, trace_case
from wardian.measure.store.store import now
from wardian.measure.suites.execution import Running, RunOptions
from wardian.measure.suites.outcomes import SuiteOutcome
from wardian.measure.suites.programs import find_programs
from wardian.measure.suites.running import run_program
from wardian.measure.target import Target, target
from wardian.sandbox.policy.policy import Policy

MAX_OUTPUT = 2000


class Produced(NamedTuple):
    """A case, and what came of it."""

    case: Case
    outcome: Outcome
    duration_s: float
    time: str


def perform(unit: Unit) -> list[Produced]:
    """Never raises for what is measured. What is not as it should be is tried once more, for a
    busy machine makes some fail that are sound; a wall that fell once has fallen."""
    first = _performed(unit)
    main = first[0].outcome if first else None
    if main is None or unit.case.kind == "suite" or main.health not in ("bad", "broken"):
        return first
    if main.status == "allowed_unexpected":
        return first
    again = _performed(unit)
    if any(one.outcome.health in ("bad", "broken") for one in again):
        return first
    noted = {"unsteady": {"status": main.status, "cause": main.cause}}
    steady = again[0].outcome
    marked = steady._replace(evidence={**steady.evidence, **noted})
    return [again[0]._replace(outcome=marked), *again[1:]]


def _performed(unit: Unit) -> list[Produced]:
    when, begun = now(), time.monotonic()
    try:
        trust.check(unit)
        if unit.case.kind == "probe":
            return _probe(unit, when)
        if unit.case.kind == "suite":
            return _suite(unit, when)
        given, kind = unit.payload, unit.case.kind
        measure = trace_case if kind == "trace" else measure_case
        found = measure(given["skill"], given["case"], given["sandbox"], given["policy"])
        return [Produced(unit.case, *found, when)]
    except Exception as error:  # one case that can't be measured must not cost the others
        noted = str(error) if isinstance(error, WardianError | OSError) else repr(error)
        outcome = Outcome("error", f"could not be measured: {noted}")
        return [Produced(unit.case, outcome, time.monotonic() - begun, when)]


# Specimens


def _probe(unit: Unit, when: str) -> list[Produced]:
    given = unit.payload
    specimen = read_specimen(given["root"], given["path"])
    found = measure_one(
        specimen,
        _target(given["sandbox"], given["policy"]),
        _environment(),
        profile=_profile(given["profile"]),
        host_named=bool(given.get("host_named")),
        timeout_s=given["timeout_s"],
    )
    evidence = {"artifact": stable(found), "refusals": [stored(one) for one in found.refusals]}
    outcome = Outcome(
        found.status, found.cause, found.detail, found.errno, found.observed, evidence
    )
    produced = [Produced(unit.case, outcome, found.duration_s, when)]
    for check in found.checks:
        status = _check_status(check.ok, found.status)
        cause = check.detail if status == "fail" else ""
        case = unit.case._replace(
            kind="check",
            name=f"{unit.case.name}#{check.name}",
            about={"specimen": unit.case.name, "title": check.name},
        )
        outcome = Outcome(status, cause, check.detail, check.errno)
        produced.append(Produced(case, outcome, 0.0, when))
    return produced


def _check_status(ok: bool | None, specimen: str) -> str:
    """What a specimen is expected to be denied, its checks are denied by right."""
    if ok is None:
        return "unavailable"
    if ok:
        return "ok"
    return "blocked_expected" if specimen == "blocked_expected" else "fail"


_VOLATILE = ("time", "duration_s", "host", "kernel", "machine", "uid", "wardian", "refusals")


def stable(artifact: Artifact) -> dict[str, Any]:
    """What of an artifact is the same each time."""
    return {key: value for key, value in artifact.document().items() if key not in _VOLATILE}


def _profile(name: str) -> Profile:
    """Read anew when its file has changed."""
    is_file = name.endswith(".toml") or "/" in name
    return _profile_of(name, os.stat(name).st_mtime if is_file else 0.0)


@functools.lru_cache(64)
def _profile_of(name: str, changed: float) -> Profile:
    return read_profile(name)


@functools.lru_cache(64)
def _target(sandbox: str, policy: Policy) -> Target:
    return target(sandbox, policy)


_LOCK = threading.Lock()
_STANDING = contextlib.ExitStack()
_ENVIRONMENT: dict[str, str] = {}


def _environment() -> Mapping[str, str]:
    """The witnesses of this process, put up when the first specimen wants them."""
    with _LOCK:
        if not _ENVIRONMENT:
            _ENVIRONMENT.update(_STANDING.enter_context(witnesses()))
            atexit.register(_STANDING.close)
    return _ENVIRONMENT


# Suites


def _suite(unit: Unit, when: str) -> list[Produced]:
    given = unit.payload
    (program,) = find_programs([given["path"]], given["protocol"]).programs
    where = _target(given["sandbox"], given["policy"])
    options = RunOptions(timeout_s=given["timeout_s"])
    counted = run_program(program, where, options, Running(), lambda case, status: None)
    return [_suite_case(unit.case, one, when) for one in counted.outcomes]


def _suite_case(program: Case, one: SuiteOutcome, when: str) -> Produced:
    case = program._replace(name=f"{program.name}:{one.case}", about={"program": program.name})
    status = STORED.get(one.status, one.status)
    evidence: dict[str, Any] = {}
    if status not in ("pass", "skip"):
        evidence["output"] = one.output[-MAX_OUTPUT:]
        evidence["refusals"] = [stored(each) for each in one.refusals]
    cause = one.detail if status != "pass" else ""
    return Produced(
        case, Outcome(status, cause, "", None, None, evidence), round(one.seconds, 4), when
    )
