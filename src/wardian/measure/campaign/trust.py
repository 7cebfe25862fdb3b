"""Decide which units may run on the bare host: those whose code ships with wardian. Pure, except
for resolving links.

Skills, suites and specimens of a directory are others' code: the backend `host` gets them only if
it is named on the command line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wardian.errors import UsageError
from wardian.measure.campaign.units import Unit
from wardian.measure.probes.specimen import ships
from wardian.measure.target import HOST


def is_ours(unit: Unit) -> bool:
    """A specimen that ships with wardian."""
    return unit.case.kind == "probe" and ships(str(unit.payload["root"]))


def may_run(unit: Unit) -> bool:
    """In the sandbox that the unit names."""
    return unit.payload["sandbox"] != HOST or bool(unit.payload.get("host_named")) or is_ours(unit)


def not_run(units: Iterable[Unit]) -> dict[str, str]:
    """Step → why nothing of it runs, for steps of which there are units and none may run."""
    every = list(units)
    running = {one.step for one in every if may_run(one)}
    kept = Counter(one.step for one in every if one.step not in running)
    return {
        step: f"{count} skipped: no sandbox but the bare host was chosen or works here (see "
        "`wardian doctor`), and others' code runs there only if it is named: --in host"
        for step, count in kept.items()
    }


def check(unit: Unit) -> None:
    """Raises UsageError. Asked again where a unit is performed, whoever made it."""
    if not may_run(unit):
        raise UsageError(
            "it does not ship with wardian, so it does not run on the bare host",
            hint="name it on the command line: --in host",
        )
