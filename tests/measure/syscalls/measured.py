"""Artifacts as specimens of system calls leave them, made for a test."""

from __future__ import annotations

from typing import Any

from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.verdict import SpecimenCheck

_FIELDS: dict[str, Any] = {
    "domain": "syscall",
    "language": "c",
    "sandbox": "wardian",
    "sandbox_version": "1",
    "status": "supported",
    "cause": "",
    "observed": "allowed",
    "errno": None,
    "detail": "",
    "expected": "allowed",
    "expected_errno": (),
    "reason": "an ordinary program may do this",
    "profile": "wardian",
    "duration_s": 0.1,
    "host": "here",
    "kernel": "6.18.0",
    "machine": "x86_64",
    "uid": 1000,
    "policy_digest": "sha256:0",
    "degraded": (),
    "refusals": (),
    "wardian": "1",
    "time": "2026-01-02T03:04:05.000+00:00",
}


def good(name: str) -> SpecimenCheck:
    return SpecimenCheck(name, True, None, "")


def bad(name: str, errno: str | None = None, detail: str = "") -> SpecimenCheck:
    return SpecimenCheck(name, False, errno, detail)


def unasked(name: str) -> SpecimenCheck:
    return SpecimenCheck(name, None, None, "the kernel lacks it")


def artifact(call: str, *checks: SpecimenCheck, specimen: str = "", **fields: Any) -> Artifact:
    """A measurement of ``call``; observed and errno follow from its checks unless given."""
    failed = [one for one in checks if one.ok is False]
    if failed:
        fields = {"observed": "blocked", "status": "blocked_unexpected"} | fields
        fields = {"errno": failed[0].errno, "detail": failed[0].detail} | fields
    path = f"core/syscall/{specimen or call}.c"
    return Artifact(
        **_FIELDS
        | {"id": path[:-2].replace("/", "__"), "specimen": f"probes/{path}"}
        | {"capability": f"syscall_{call}", "checks": checks}
        | fields
    )
