"""Unexpected results, each with the refusals that may have caused it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.case import Identity
from wardian.measure.history.comparison import CaseDifference, Comparison
from wardian.measure.store.model import Measurement
from wardian.measure.target import HOST
from wardian.sandbox.run.result import Refusal

_LIKELY = ("limit", "syscall", "process", "network", "file")
Cause = tuple[str, str, str]


class Trouble(NamedTuple):
    """An unexpected result with its evidence. ``difference`` is when the case stopped working;
    None if it never worked."""

    result: Measurement
    difference: CaseDifference | None
    on_host: str  # the health of the same case on the host; empty if it was not run there
    refusals: tuple[Refusal, ...]  # those that did not occur when it worked
    since: str

    @property
    def sandbox(self) -> str:
        return self.result.case.sandbox

    @property
    def own_fault(self) -> bool:
        """A skill that also fails without a sandbox."""
        return self.result.case.kind == "skill" and self.on_host in ("bad", "broken")


def troubles(
    results: Sequence[Measurement],
    comparison: Comparison,
    onsets: Mapping[Identity, CaseDifference],
) -> list[Trouble]:
    """``results`` have evidence; ``onsets`` are the differences with which each stopped working."""
    health = {one.case.identity: one.health for one in results}
    usual = usual_refusals(results)
    found = []
    for one in results:
        if one.health not in ("bad", "broken") or one.case.kind in ("check", "trace"):
            continue  # a check is part of its specimen's finding
        kind, name, sandbox = one.case.identity
        native = health.get((kind, name, HOST), "")
        if kind == "suite" and (sandbox == HOST or native not in ("good", "")):
            continue  # it does not pass on the host either
        onset = onsets.get(one.case.identity)
        before = onset.before if onset is not None else None
        refusals = new_refusals(one, before, usual.get(sandbox, set()))
        since = comparison.flips.get(one.case.identity, "")
        found.append(Trouble(one, onset, native, tuple(refusals), since))
    return found


def cause(refusal: Refusal) -> Cause:
    """What equal refusals have in common; arguments of a call differ from run to run."""
    target = "" if refusal.kind in ("syscall", "process") else refusal.target
    return refusal.kind, refusal.action, target


def new_refusals(
    now: Measurement, before: Measurement | None, usual: Collection[Cause] = ()
) -> list[Refusal]:
    """The refusals of a result, the likeliest cause first: without those that also occurred when
    it worked, and those of runs that pass (``usual``), unless there are no others."""
    known = {cause(one) for one in before.outcome.refusals} if before is not None else set()

    def likely(one: Refusal) -> tuple[bool, bool, int, Cause]:
        kind = _LIKELY.index(one.kind) if one.kind in _LIKELY else len(_LIKELY)
        return cause(one) in known, cause(one) in usual, kind, cause(one)

    ones = sorted(now.outcome.refusals, key=likely)
    return [one for one in ones if not any(likely(one)[:2])] or ones


def usual_refusals(results: Iterable[Measurement]) -> dict[str, set[Cause]]:
    """Sandbox → refusals of runs that passed there."""
    found: dict[str, set[Cause]] = {}
    for one in results:
        if one.health == "good":
            names = (cause(refusal) for refusal in one.outcome.refusals)
            found.setdefault(one.case.sandbox, set()).update(names)
    return found
