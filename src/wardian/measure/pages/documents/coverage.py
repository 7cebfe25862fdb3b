"""Results of specimens and traces as the coverage of system calls understands them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wardian.measure.pages.documents.gathered import Gathered, coverage_of
from wardian.measure.store.model import Campaign, Result
from wardian.measure.syscalls.matrix import Matrix
from wardian.measure.syscalls.usage import CallUse


def matrix_of(campaign: Campaign, results: Sequence[Result]) -> Matrix:
    """Every system call in every sandbox in which specimens measured it; results with evidence."""
    return coverage_of(campaign, results)[1]


def uses(gathered: Gathered) -> list[CallUse]:
    """The calls that each skill makes, by the traces of its cases."""
    calls: dict[str, set[str]] = {}
    for one in gathered.of("trace"):
        calls.setdefault(one.case.group, set()).update(one.outcome.evidence.get("syscalls", ()))
    return [CallUse(name, "skill", tuple(sorted(made))) for name, made in sorted(calls.items())]
