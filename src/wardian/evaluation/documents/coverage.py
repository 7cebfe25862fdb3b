"""What skills use of the system calls, as the coverage of system calls understands it. Pure."""

from __future__ import annotations

from wardian.coverage.usage import Use
from wardian.evaluation.documents.gathered import Gathered


def uses(gathered: Gathered) -> list[Use]:
    """The calls that each skill makes, by the traces of its cases."""
    calls: dict[str, set[str]] = {}
    for one in gathered.of("trace"):
        calls.setdefault(one.case.group, set()).update(one.outcome.evidence.get("syscalls", ()))
    return [Use(name, "skill", tuple(sorted(made))) for name, made in sorted(calls.items())]
