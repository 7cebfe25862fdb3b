"""The outcome of a syscall's checks in one sandbox: one of four statuses. Pure.

supported   every check that could be asked is as it should be
partial     some are, and some are not: the note says which
denied      none is, and the answer is a refusal: the table's, the kernel's to an ordinary user, or
            a signal
missing     there is no such call: ENOSYS, a kernel without it, or no right answer at all

What the table denies outright is denied although a check may be satisfied by the very refusal: one
that looks for EPERM finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wardian.measure.outcome import NO_ANSWER
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.verdict import SpecimenCheck
from wardian.syscalls.conditions import parse_guards
from wardian.syscalls.table import Row

CAPABILITY = "syscall_"
_REFUSED = ("EPERM", "EACCES")
_SHOWN = 3  # failing checks in a note
_KILLED = "killed by signal"


class SeenCheck(NamedTuple):
    """A check, and the measurement that it belongs to."""

    artifact: Artifact
    check: SpecimenCheck

    @property
    def key(self) -> tuple[str, str]:
        """The same check in another sandbox has the same."""
        return self.artifact.id, self.check.name


class CallSupport(NamedTuple):
    """One syscall in one sandbox. ``note`` is never empty where something is lacking."""

    status: str
    note: str
    seen: tuple[SeenCheck, ...]

    @property
    def ok(self) -> int:
        """How many checks were as they should be."""
        return sum(one.check.ok is True for one in self.seen)

    @property
    def asked(self) -> int:
        """How many could be asked here."""
        return sum(one.check.ok is not None for one in self.seen)


def checks_of(artifact: Artifact) -> tuple[SeenCheck, ...]:
    """Its checks; a specimen that makes none, or gave no answer, is a check by itself."""
    if artifact.status == "not_run" or not artifact.duration_s:
        return ()  # no compiler, no sandbox: nothing was measured
    if artifact.checks:
        return tuple(SeenCheck(artifact, one) for one in artifact.checks)
    name = artifact.id.rpartition("__")[2]
    if artifact.status in NO_ANSWER:
        return (SeenCheck(artifact, SpecimenCheck(name, False, None, artifact.cause)),)
    ok = {"allowed": True, "blocked": False}.get(artifact.observed or "")
    return (SeenCheck(artifact, SpecimenCheck(name, ok, artifact.errno, artifact.detail)),)


def cell(
    row: Row, artifacts: Sequence[Artifact], *, on_host: str | None = None
) -> CallSupport | None:
    """The cell of a syscall; None if nothing was measured.

    ``on_host`` is its status without a sandbox: what exists nowhere was not denied.
    """
    seen = tuple(one for artifact in artifacts for one in checks_of(artifact))
    if not seen:
        return None
    asked = [one for one in seen if one.check.ok is not None]
    if not asked:
        return CallSupport("missing", f"it can't be tested here: {seen[0].check.detail}", seen)
    failed = [one for one in asked if not one.check.ok]
    if not failed:
        return CallSupport("supported", _left_out(seen, asked), seen)
    if len(failed) < len(asked) and not _denied_outright(row, failed):
        return CallSupport("partial", _note(failed), seen)
    return CallSupport(_lacking(row, failed, on_host), _note(failed), seen)


def _left_out(seen: Sequence[SeenCheck], asked: Sequence[SeenCheck]) -> str:
    rest = [one for one in seen if one not in asked]
    return f"can't be tested here: {_listed(rest)}" if rest else ""


def _denied_outright(row: Row, failed: Sequence[SeenCheck]) -> bool:
    return row.kind in ("deny", "absent") and all(
        one.check.errno in answers(row) for one in failed if not killed(one.check)
    )


def _lacking(row: Row, failed: Sequence[SeenCheck], on_host: str | None) -> str:
    """Denied or missing?"""
    errnos = {one.check.errno for one in failed}
    if errnos & {*_REFUSED} or any(killed(one.check) for one in failed):
        return "denied"
    if errnos & {*answers(row)} - {"ENOSYS"}:
        return "denied"
    if "ENOSYS" in errnos and row.kind == "absent":
        there = on_host != "missing" if on_host is not None else row.group != "obsolete"
        return "denied" if there else "missing"
    return "missing"


def killed(check: SpecimenCheck) -> bool:
    """Did the check's child die of it?"""
    return check.detail.startswith(_KILLED)


def answers(row: Row) -> frozenset[str]:
    """The errnos with which the filter answers this call, where it does."""
    import errno

    if row.kind == "deny":
        return frozenset({"EPERM"})
    if row.kind == "absent":
        return frozenset({"ENOSYS"})
    if row.kind == "when":
        numbers = (number for _, number, _ in parse_guards(row.decision))
        return frozenset(errno.errorcode[number] for number in numbers if number)
    return frozenset()


def _note(failed: Sequence[SeenCheck]) -> str:
    more = f"; and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    return _listed(failed[:_SHOWN]) + more


def _listed(ones: Sequence[SeenCheck]) -> str:
    return "; ".join(
        f"{one.check.name}: {one.check.detail or one.check.errno or 'no answer'}" for one in ones
    )
