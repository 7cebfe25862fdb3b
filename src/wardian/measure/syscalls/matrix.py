"""Syscall × sandbox, what differs from the host, and what policy explains of it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from wardian.measure.outcome import CALL, UNEXPECTED
from wardian.measure.probes.artifact import Artifact
from wardian.measure.syscalls.cells import (
    CAPABILITY,
    CallSupport,
    SeenCheck,
    answers,
    cell,
    killed,
)
from wardian.measure.target import HOST, TARGETS
from wardian.syscalls.knowledge import PRIORITIES, Knowledge, known
from wardian.syscalls.table import Row, canonical_arch, rows

# Sandboxes whose filter answers with another errno than the table's: docs/backends.md.
_ONE_ERRNO = ("gvisor",)


class CallLine(NamedTuple):
    """A syscall, and its cell in each sandbox in which it was measured."""

    row: Row
    knowledge: Knowledge
    number: int | None
    cells: Mapping[str, CallSupport]

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def probes(self) -> list[str]:
        """The specimens that measured it."""
        return sorted({one.artifact.id for c in self.cells.values() for one in c.seen})


class HostDifference(NamedTuple):
    """A check that came to something else than on the host. ``explained`` says why, if policy
    does."""

    syscall: str
    sandbox: str
    specimen: str
    check: str
    ok: bool
    errno: str | None
    detail: str
    explained: str = ""


class Matrix(NamedTuple):
    """``differences`` is None where the host was not measured."""

    arch: str
    sandboxes: tuple[str, ...]
    lines: tuple[CallLine, ...]
    differences: tuple[HostDifference, ...] | None

    @property
    def unexplained(self) -> tuple[HostDifference, ...]:
        """Differences without an explanation."""
        return tuple(one for one in self.differences or () if not one.explained)

    @property
    def unmeasured(self) -> dict[str, list[str]]:
        """For each sandbox the calls of this architecture that no specimen measured there."""
        return {
            sandbox: [line.name for line in self.lines if sandbox not in line.cells]
            for sandbox in self.sandboxes
        }

    def status(self, name: str, sandbox: str) -> str | None:
        """The status of a call, None if it was not measured."""
        found = self._by_name().get(name)
        return found.cells[sandbox].status if found and sandbox in found.cells else None

    def _by_name(self) -> dict[str, CallLine]:
        return {line.name: line for line in self.lines}

    def counts(self, sandbox: str) -> dict[str, int]:
        """How many calls have each status."""
        return _counted(self.lines, sandbox)

    def by_group(self) -> dict[str, dict[str, dict[str, int]]]:
        """Group → sandbox → status → how many."""
        return self._split(lambda line: line.row.group)

    def by_priority(self) -> dict[str, dict[str, dict[str, int]]]:
        """Priority → sandbox → status → how many."""
        found = self._split(lambda line: line.knowledge.priority)
        return {name: found[name] for name in PRIORITIES if name in found}

    def _split(self, key: Callable[[CallLine], str]) -> dict[str, dict[str, dict[str, int]]]:
        split: dict[str, list[CallLine]] = {}
        for line in self.lines:
            split.setdefault(key(line), []).append(line)
        return {
            name: {sandbox: _counted(lines, sandbox) for sandbox in self.sandboxes}
            for name, lines in split.items()
        }


def _counted(lines: Sequence[CallLine], sandbox: str) -> dict[str, int]:
    counts = Counter(line.cells[sandbox].status for line in lines if sandbox in line.cells)
    return {status: counts[status] for status in CALL} | {"unmeasured": len(lines) - counts.total()}


def build(
    artifacts: Iterable[Artifact],
    arch: str,
    sandboxes: Sequence[str] = (),
    decisions: Mapping[str, str] | None = None,
) -> Matrix:
    """The matrix of these measurements; ``sandboxes`` are those wanted, all unless given.

    ``decisions`` are those that a policy puts in the place of the table's.
    """
    arch = canonical_arch(arch)
    measured: dict[str, dict[str, list[Artifact]]] = {}
    for one in artifacts:
        if one.capability.startswith(CAPABILITY) and (not sandboxes or one.sandbox in sandboxes):
            name = one.capability.removeprefix(CAPABILITY)
            measured.setdefault(one.sandbox, {}).setdefault(name, []).append(one)
    others = sorted(measured.keys() - {*TARGETS})
    order = sandboxes or [*(n for n in TARGETS if n in measured), *others]
    names = tuple(name for name in order if name in measured)
    lines = tuple(
        _line(_decided(row, decisions or {}), arch, names, measured)
        for row in rows()
        if row.number(arch) is not None
    )
    differences = None
    if HOST in names:
        differences = tuple(
            found
            for line in lines
            for name in names
            if name != HOST
            for found in _differ(line, name)
        )
    return Matrix(arch, names, lines, differences)


def _decided(row: Row, decisions: Mapping[str, str]) -> Row:
    return Row((*row[:4], decisions.get(row.name, row.decision), *row[5:]))


def _line(
    row: Row, arch: str, names: Sequence[str], measured: Mapping[str, Mapping[str, list[Artifact]]]
) -> CallLine:
    cells: dict[str, CallSupport] = {}
    host = cell(row, measured.get(HOST, {}).get(row.name, []))
    for name in names:
        ones = measured[name].get(row.name, [])
        found = host if name == HOST else cell(row, ones, on_host=host.status if host else None)
        if found is not None:
            cells[name] = found
    return CallLine(row, known()[row.name], row.number(arch), cells)


# What differs from the host


def _differ(line: CallLine, sandbox: str) -> Iterable[HostDifference]:
    if HOST not in line.cells or sandbox not in line.cells:
        return
    host = {one.key: one for one in line.cells[HOST].seen}
    for one in line.cells[sandbox].seen:
        there = host.get(one.key)
        if there is None:
            # A specimen that gave no answer here, and did there.
            if any(key[0] == one.artifact.id for key in host):
                yield _difference(line, sandbox, one)
        elif one.check.ok is not None and there.check.ok not in (one.check.ok, None):
            yield _difference(line, sandbox, one)


def _difference(line: CallLine, sandbox: str, one: SeenCheck) -> HostDifference:
    return HostDifference(
        line.name,
        sandbox,
        one.artifact.id,
        one.check.name,
        one.check.ok is True,
        one.check.errno,
        one.check.detail,
        explanation(line.row, one),
    )


def explanation(row: Row, one: SeenCheck) -> str:
    """Why policy makes this check fail; empty if it does not."""
    check, artifact = one.check, one.artifact
    if check.ok:
        return ""
    reason = row.reason.removesuffix(".")
    given = answers(row)
    if check.errno in given or (given and killed(check)):
        return f"the table: {reason}"
    if (
        artifact.sandbox in _ONE_ERRNO
        and row.kind != "allow"
        and check.errno in ("EPERM", "ENOSYS")
    ):
        return f"the table, by the sandbox's own filter: {reason}"
    if artifact.expected != "allowed" and artifact.status not in UNEXPECTED:
        return f"expected of {artifact.profile}: {artifact.reason}"
    return ""
