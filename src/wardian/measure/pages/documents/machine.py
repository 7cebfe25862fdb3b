"""A campaign for programs: one JSON document, and JUnit XML. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardian.junit import ERROR, FAILURE, SKIPPED, JunitCase, JunitSuite, junit
from wardian.measure.pages.documents.decision import Decision
from wardian.measure.pages.documents.evaluation import headline
from wardian.measure.pages.facts import Facts
from wardian.measure.store.model import Measurement, fields
from wardian.measure.syscalls import report as coverage

SCHEMA = "wardian.evaluation/1"


def document(facts: Facts, decision: Decision) -> dict[str, Any]:
    """The content of the pages, and all results."""
    comparison = facts.comparison
    since = comparison.stable_since
    return {
        "schema": SCHEMA,
        "headline": headline(facts),
        "campaign": fields(facts.campaign),
        "compared_with": comparison.last.uid if comparison.last is not None else None,
        "unchanged": comparison.unchanged,
        "stable_since": since.night if since is not None else None,
        "stable_campaigns": comparison.nights,
        "differences": [
            {
                "kind": one.kind,
                "case": list(one.case.identity),
                "before": one.before.status if one.before is not None else None,
                "after": one.after.status if one.after is not None else None,
                "changes": [change._asdict() for change in one.changes],
                "unexplained": one.unexplained,
            }
            for one in comparison.differences
        ],
        "findings": [fields(one) for one in facts.findings],
        "figures": [fields(one) for one in facts.figures],
        "steps": [fields(one, "document") for one in facts.steps],
        "skills": facts.skills,
        "syscalls": _coverage(facts),
        "results": [_result(one, comparison.flips) for one in facts.results],
        "decision": decision.action,
    }  # fmt: skip


def _coverage(facts: Facts) -> dict[str, Any] | None:
    """The document of `wardian syscalls coverage --json`; None if no call was measured."""
    if not facts.matrix.sandboxes:
        return None
    return coverage.document(facts.matrix, facts.artifacts, facts.uses)


def _result(one: Measurement, since: Mapping[tuple[str, str, str], str]) -> dict[str, Any]:
    return {
        "kind": one.case.kind,
        "name": one.case.name,
        "sandbox": one.case.sandbox,
        "group": one.case.group,
        "status": one.status,
        "health": one.health,
        "errno": one.outcome.errno,
        "cause": one.outcome.cause,
        "since": since.get(one.case.identity, ""),
        "duration_s": one.duration_s,
        "measured_in": one.measured_in,
    }


def junit_of(facts: Facts) -> str:
    """One suite for each kind and sandbox."""
    suites: dict[tuple[str, str], list[JunitCase]] = {}
    for one in facts.results:
        if one.case.kind != "trace":
            suites.setdefault((one.case.kind, one.case.sandbox), []).append(_junit_case(one))
    return junit(JunitSuite(f"{kind} [{where}]", ones) for (kind, where), ones in suites.items())


def _junit_case(one: Measurement) -> JunitCase:
    where = f"{one.case.kind}.{one.case.group or one.case.sandbox}"
    kind = {"bad": FAILURE, "broken": ERROR, "absent": SKIPPED}.get(one.health, "")
    cause = one.outcome.cause or one.status
    return JunitCase(one.case.name, where, one.duration_s, kind, cause[:300], cause)
