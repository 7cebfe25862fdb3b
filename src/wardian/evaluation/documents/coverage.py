"""Results of specimens as the coverage of system calls understands them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wardian.coverage.matrix import Matrix, build
from wardian.coverage.usage import Use
from wardian.evaluation.documents.gathered import Gathered
from wardian.evaluation.model import Campaign, Result
from wardian.probes.artifact import Artifact, check


def artifacts(campaign: Campaign, results: Sequence[Result]) -> list[Artifact]:
    """Of the specimens' results, with evidence; what was not kept as one is left out."""
    found = []
    for one in results:
        told = one.outcome.evidence.get("artifact")
        if one.case.kind != "probe" or not told:
            continue
        volatile = {
            "time": one.time, "duration_s": one.duration_s, "host": campaign.host,
            "kernel": campaign.kernel, "machine": campaign.machine, "uid": campaign.user_id,
            "wardian": campaign.wardian, "refusals": one.outcome.evidence.get("refusals", []),
        }  # fmt: skip
        try:
            found.append(check({**told, **volatile}))
        except ValueError:
            continue  # of a version whose artifacts were others
    return found


def matrix_of(campaign: Campaign, results: Sequence[Result]) -> Matrix:
    """Every system call in every sandbox in which specimens measured it."""
    return build(artifacts(campaign, results), campaign.machine)


def uses(gathered: Gathered) -> list[Use]:
    """The calls that each skill makes, by the traces of its cases."""
    calls: dict[str, set[str]] = {}
    for one in gathered.of("trace"):
        calls.setdefault(one.case.group, set()).update(one.outcome.evidence.get("syscalls", ()))
    return [Use(name, "skill", tuple(sorted(made))) for name, made in sorted(calls.items())]
