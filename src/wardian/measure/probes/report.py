"""Probe measurements as list, matrix, JSON and JUnit. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from wardian.junit import ERROR, FAILURE, SKIPPED, JunitCase, JunitSuite
from wardian.junit import junit as junit_document
from wardian.measure import outcome
from wardian.measure.outcome import GOOD, PROBE, UNEXPECTED
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.specimen import Specimen
from wardian.text import columns, printable

LIST_SCHEMA = "wardian.probe-list/1"
RUN_SCHEMA = "wardian.probe-run/1"
LEGEND = "yes: allowed   no: blocked, as expected   NO!, YES!: not as expected   -: can't be tested"


def unexpected(artifact: Artifact, *, require_all: bool = False) -> bool:
    """Is this one to be looked at?"""
    if artifact.status == "unavailable":
        return require_all
    return artifact.status not in GOOD


# The list


def listing(specimens: Iterable[Specimen]) -> dict[str, Any]:
    """The JSON document of ``probe list``."""
    keys = ("id", "capability", "language")
    return {
        "schema": LIST_SCHEMA,
        "probes": [
            {key: getattr(one, key) for key in keys}
            | {"path": f"probes/{one.path}", "domain": one.domain, "summary": one.summary}
            for one in specimens
        ],
    }


def list_lines(specimens: Sequence[Specimen]) -> list[str]:
    """ID, capability, language, what it shows."""
    return columns([
        (one.id, one.capability, one.language, printable(one.summary)) for one in specimens
    ])  # fmt: skip


# A run


def summary(artifacts: Sequence[Artifact]) -> str:
    """One line of counts."""
    counts = Counter(one.status for one in artifacts)
    shown = ", ".join(f"{counts[name]} {name}" for name in PROBE if counts[name])
    total = len(artifacts)
    return f"{total} measurement{'s' if total != 1 else ''}: {shown or 'none'}"


def document(artifacts: Sequence[Artifact], seconds: float) -> dict[str, Any]:
    """The JSON document of ``probe run`` and ``probe all``."""
    counts = Counter(one.status for one in artifacts)
    return {
        "schema": RUN_SCHEMA,
        "summary": {name: counts[name] for name in PROBE},
        "seconds": round(seconds, 3),
        "results": [one.document() for one in artifacts],
    }


def matrix(artifacts: Sequence[Artifact]) -> list[str]:
    """Capability × sandbox. Specimens of one capability that agree share a line."""
    sandboxes = list(dict.fromkeys(one.sandbox for one in artifacts))
    rows: list[tuple[str, ...]] = [("capability", *sandboxes, "")]
    for capability, ones in _grouped(artifacts).items():
        by_specimen: dict[str, dict[str, str]] = {}
        for one in ones:
            by_specimen.setdefault(one.id, {})[one.sandbox] = _cell(one)
        kinds = {tuple(by.get(name, "") for name in sandboxes) for by in by_specimen.values()}
        if len(kinds) == 1:
            rows.append((capability, *next(iter(kinds)), ""))
        else:
            rows.append((capability, *[""] * len(sandboxes), ""))
            for name, by in by_specimen.items():
                label = f"  {name.removeprefix('core__')}"
                rows.append((label, *(by.get(sandbox, "") for sandbox in sandboxes), ""))
    return columns(rows)


def _grouped(artifacts: Sequence[Artifact]) -> dict[str, list[Artifact]]:
    groups: dict[str, list[Artifact]] = {}
    for one in sorted(artifacts, key=lambda a: (a.domain, a.capability)):
        groups.setdefault(one.capability, []).append(one)
    return groups


def _cell(one: Artifact) -> str:
    word = outcome.cell(one.status)
    return f"{word} {one.errno}" if one.errno else word


def troubles(artifacts: Iterable[Artifact], *, require_all: bool = False) -> list[str]:
    """What was not as expected, one paragraph each; what did not run for one reason, together."""
    lines = []
    together: dict[tuple[str, str], list[Artifact]] = {}
    for one in artifacts:
        if one.status == "not_run":
            together.setdefault((one.sandbox, one.cause), []).append(one)
        elif unexpected(one, require_all=require_all):
            lines.append(f"{one.status}: {one.id} in {one.sandbox}")
            lines.append(f"  {printable(one.cause)}")
            if one.observed is not None and one.detail:
                seen = f"{one.observed}, {one.errno}" if one.errno else one.observed
                lines.append(f"  observed {seen}: {printable(one.detail)}")
    for (sandbox, cause), ones in together.items():
        more = f" and {len(ones) - 1} more" if len(ones) > 1 else ""
        lines += [f"not_run: {ones[0].id}{more} in {sandbox}", f"  {printable(cause)}"]
    return lines


def one_line(one: Artifact) -> str:
    """A measurement as a line."""
    seen = " ".join(filter(None, (one.observed or "", one.errno)))
    shown = printable(one.detail or one.cause)
    return f"{one.sandbox:<10}  {one.status:<18}  {one.id}  {seen}: {shown}".rstrip(": ")


def junit(artifacts: Sequence[Artifact], *, require_all: bool = False) -> str:
    """JUnit XML, one suite for each sandbox and domain."""
    suites: dict[tuple[str, str], list[JunitCase]] = {}
    for one in artifacts:
        suites.setdefault((one.sandbox, one.domain), []).append(
            JunitCase(
                one.id,
                f"{one.sandbox}.{one.capability}",
                one.duration_s,
                _junit_kind(one, require_all),
                one.cause or one.status,
                f"{one.status}\n{one.detail}",
            )
        )
    return junit_document(
        JunitSuite(f"{domain} [{sandbox}]", cases) for (sandbox, domain), cases in suites.items()
    )


def _junit_kind(one: Artifact, require_all: bool) -> str:
    if one.status == "unavailable":
        return FAILURE if require_all else SKIPPED
    if one.status in GOOD:
        return ""
    return FAILURE if one.status in UNEXPECTED else ERROR
