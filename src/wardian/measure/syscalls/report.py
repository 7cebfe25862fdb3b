"""The matrix, the table and one call, as JSON documents and as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from wardian.measure.outcome import CALL, STATUSES
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.specimen import Specimen
from wardian.measure.syscalls.cells import CallSupport
from wardian.measure.syscalls.matrix import CallLine, HostDifference, Matrix
from wardian.measure.syscalls.usage import CallUse
from wardian.syscalls.knowledge import Knowledge
from wardian.syscalls.table import Row
from wardian.text import columns, cut, printable

TABLE_SCHEMA = "wardian.syscalls-table/1"
SHOW_SCHEMA = "wardian.syscalls-show/1"
COVERAGE_SCHEMA = "wardian.syscalls-coverage/1"
LEGEND = "partly: see the notes   denied: refused   missing: no such call   .: not measured"
_WIDE = 160


# The table


def entry(row: Row, knowledge: Knowledge) -> dict[str, Any]:
    """All that the table knows of a call."""
    return {
        "name": row.name,
        "x86_64": row.x86_64,
        "arm64": row.arm64,
        "group": row.group,
        "priority": knowledge.priority,
        "priority_rule": knowledge.why,
        "decision": row.decision,
        "kind": row.kind,
        "arguments": list(row.arguments),
        "reason": row.reason,
        "named": knowledge.named,
        "used_by": list(knowledge.used_by),
        "man": knowledge.man,
        "gvisor_tests": list(knowledge.tests),
    }


def table_lines(ones: Sequence[tuple[Row, Knowledge]], arch: str) -> list[str]:
    """Number, name, group, priority, decision, reason."""
    cells = [("nr", "name", "group", "priority", "decision", "reason")]
    for row, knowledge in ones:
        number = row.number(arch)
        shown = "-" if number is None else str(number)
        cells.append((shown, row.name, row.group, knowledge.priority, row.kind, row.reason))
    return columns(cells)


# One call


class One(NamedTuple):
    """All that is known of a call here. ``line`` has what was measured, if something was."""

    row: Row
    knowledge: Knowledge
    probes: Sequence[Specimen]
    skills: Sequence[str]
    line: CallLine | None


def show_document(one: One) -> dict[str, Any]:
    """The JSON document of ``syscalls show``."""
    return {
        "schema": SHOW_SCHEMA,
        **entry(one.row, one.knowledge),
        "skills": list(one.skills),
        "probes": [probe.id for probe in one.probes],
        "in": _statuses(one.line) if one.line else {},
        "results": _results(one.line) if one.line else {},
    }


def _statuses(line: CallLine) -> dict[str, str]:
    return {name: cell.status for name, cell in line.cells.items()}


def _results(line: CallLine) -> dict[str, Any]:
    return {
        name: {
            "status": cell.status,
            "note": cell.note,
            "ok": cell.ok,
            "asked": cell.asked,
            "measured": _measured(cell),
            "checks": [{"specimen": s.artifact.id, **s.check._asdict()} for s in cell.seen],
        }
        for name, cell in line.cells.items()
    }


def _measured(cell: CallSupport) -> str:
    return max((one.artifact.time for one in cell.seen), default="")


def show_lines(one: One) -> list[str]:
    """One call, as a person reads it."""
    row, knowledge, line = one.row, one.knowledge, one.line
    arguments = ", ".join(row.arguments)
    numbers = ", ".join(
        f"{name} {number}" if number is not None else f"not on {name}"
        for name, number in (("x86-64", row.x86_64), ("arm64", row.arm64))
    )
    facts = [
        ("decision", row.decision),
        ("why", row.reason),
        ("numbers", numbers),
        ("group", row.group),
        ("priority", f"{knowledge.priority}: {knowledge.why}"),
        ("used by", " ".join(knowledge.used_by) or "none of the traced programs"),
        ("skills", " ".join(one.skills) or "none that was traced here"),
        ("manual", f"{knowledge.man}(2)" if knowledge.man else "no page in section 2"),
        ("probes", " ".join(probe.id for probe in one.probes) or "none"),
        ("gVisor tests", " ".join(knowledge.tests) or "none"),
    ]
    lines = [f"{row.name}({arguments})", *(f"  {name:<13} {shown}" for name, shown in facts)]
    if line is None or not line.cells:
        return [*lines, "  results       none; `wardian nightly` measures them"]
    width = max(10, *map(len, line.cells))
    for name, cell in line.cells.items():
        when = _measured(cell)[:16].replace("T", " ")
        counts = f"{cell.status}, {cell.ok} of {cell.asked} checks"
        lines.append(f"  in {name:<{width}} {counts}, measured {when} UTC")
        lines += [
            f"    {'ok  ' if s.check.ok else 'FAIL' if s.check.ok is False else '-   '} "
            f"{s.check.name}{': ' + printable(s.check.detail) if s.check.detail else ''}"
            for s in cell.seen
        ]
    return lines


# Coverage


def document(
    matrix: Matrix, artifacts: Sequence[Artifact], uses: Sequence[CallUse]
) -> dict[str, Any]:
    """The JSON document of ``syscalls coverage``."""
    return {
        "schema": COVERAGE_SCHEMA,
        "arch": matrix.arch,
        "sandboxes": {name: _sandbox(name, matrix, artifacts) for name in matrix.sandboxes},
        "syscalls": [_line(line) for line in matrix.lines],
        "groups": matrix.by_group(),
        "priorities": matrix.by_priority(),
        "programs": [_use(one, matrix) for one in uses],
        "differences": (
            None if matrix.differences is None else [one._asdict() for one in matrix.differences]
        ),
        "unexplained": [one._asdict() for one in matrix.unexplained],
        "unmeasured": matrix.unmeasured,
    }


def _sandbox(name: str, matrix: Matrix, artifacts: Sequence[Artifact]) -> dict[str, Any]:
    one = next(a for a in artifacts if a.sandbox == name)
    return {
        "version": one.sandbox_version,
        "kernel": one.kernel,
        "machine": one.machine,
        "uid": one.uid,
        "policy_digest": one.policy_digest,
        "degraded": list(one.degraded),
        "measured": max(a.time for a in artifacts if a.sandbox == name),
        **matrix.counts(name),
    }


def _line(line: CallLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "number": line.number,
        "group": line.row.group,
        "priority": line.knowledge.priority,
        "decision": line.row.kind,
        "in": _statuses(line),
        "notes": {name: cell.note for name, cell in line.cells.items() if cell.note},
        "checks": {name: [cell.ok, cell.asked] for name, cell in line.cells.items()},
        "probes": line.probes,
    }


def _use(use: CallUse, matrix: Matrix) -> dict[str, Any]:
    return {
        "name": use.name,
        "kind": use.kind,
        "problem": use.problem,
        "calls": list(use.calls),
        "in": {name: served(use, matrix, name) for name in matrix.sandboxes},
    }


def served(use: CallUse, matrix: Matrix, sandbox: str) -> dict[str, Any]:
    """How many of a program's calls a sandbox supports, and which it does not."""
    statuses = {name: matrix.status(name, sandbox) for name in use.calls}
    return {
        "supported": sum(status == "supported" for status in statuses.values()),
        "of": len(statuses),
        "lacking": {name: s for name, s in statuses.items() if s not in ("supported", None)},
        "unmeasured": [name for name, status in statuses.items() if status is None],
    }


def lacking(use: CallUse, matrix: Matrix) -> str:
    """What a program uses and does not have; sandboxes that lack the same, together."""
    together: dict[str, list[str]] = {}
    for name in matrix.sandboxes:
        found = served(use, matrix, name)
        unmeasured = len(found["unmeasured"])
        words = [*found["lacking"], *([f"{unmeasured} not measured"] if unmeasured else [])]
        if words:
            together.setdefault(", ".join(words), []).append(name)
    return "; ".join(f"{', '.join(names)}: {shown}" for shown, names in together.items())


# As text


def matrix_lines(matrix: Matrix) -> list[str]:
    """Syscall × sandbox, group by group."""
    cells: list[list[str]] = [["syscall", "nr", "priority", *matrix.sandboxes, ""]]
    for group in matrix.by_group():
        cells.append([f"{group}:", "", "", *("" for _ in matrix.sandboxes), ""])
        for line in matrix.lines:
            if line.row.group == group:
                words = [_word(line, name) for name in matrix.sandboxes]
                head = [f"  {line.name}", str(line.number), line.knowledge.priority]
                cells.append([*head, *words, ""])
    return columns(cells)


def _word(line: CallLine, sandbox: str) -> str:
    if sandbox not in line.cells:
        return "."
    cell = line.cells[sandbox]
    shown = f" {cell.ok}/{cell.asked}" if cell.status == "partial" else ""
    return STATUSES[cell.status].word + shown


def counts_lines(matrix: Matrix) -> list[str]:
    """By priority and by group: supported, of all that are not there on the host neither."""
    lines: list[str] = []
    for title, split in (("priority", matrix.by_priority()), ("group", matrix.by_group())):
        cells = [[title, *matrix.sandboxes, ""]]
        for name, by_sandbox in split.items():
            cells.append([name, *(_counted(by_sandbox[s]) for s in matrix.sandboxes), ""])
        if title == "priority":
            cells.append(["all", *(_counted(matrix.counts(s)) for s in matrix.sandboxes), ""])
        lines += ["", *columns(cells)]
    return lines[1:]


def _counted(counts: dict[str, int]) -> str:
    """``84 yes, 2 denied``."""
    words = {key: STATUSES[key].word for key in CALL} | {"unmeasured": "unmeasured"}
    return ", ".join(f"{counts[key]} {words[key]}" for key in words if counts[key])


def use_lines(uses: Iterable[CallUse], matrix: Matrix) -> list[str]:
    """What programs use, and how much of it each sandbox supports."""
    cells = [["program", "calls", *matrix.sandboxes, "lacking"]]
    for use in uses:
        name = use.name if use.kind != "skill" else f"skill {use.name}"
        if use.problem:
            cells.append([name, "-", *("-" for _ in matrix.sandboxes), printable(use.problem)])
            continue
        found = [served(use, matrix, sandbox) for sandbox in matrix.sandboxes]
        shown = [f"{one['supported']}/{one['of']}" for one in found]
        cells.append([name, str(len(use.calls)), *shown, cut(lacking(use, matrix), _WIDE)])
    return columns(cells)


def note_lines(matrix: Matrix) -> list[str]:
    """Why each partial is one."""
    return [
        f"partly: {line.name} in {name}: {printable(cut(cell.note, _WIDE))}"
        for line in matrix.lines
        for name, cell in line.cells.items()
        if cell.status == "partial"
    ]


def difference_lines(ones: Iterable[HostDifference]) -> list[str]:
    """Differences that policy does not explain."""
    lines = []
    for one in ones:
        what = "works, though not on the host" if one.ok else one.errno or "fails"
        lines.append(
            f"unexplained: {one.syscall} in {one.sandbox}: {one.check} ({one.specimen}): {what}"
            + (f": {printable(cut(one.detail, _WIDE))}" if one.detail else "")
        )
    return lines


def summary(matrix: Matrix) -> str:
    """One line for each sandbox."""
    shown = [f"{name}: {_counted(matrix.counts(name))}" for name in matrix.sandboxes]
    if matrix.differences is None:
        shown.append("the host was not measured, so differences are unknown")
    else:
        count, rest = len(matrix.differences), len(matrix.unexplained)
        shown.append(f"{count} checks differ from the host, {rest} of them unexplained")
    return "\n".join(shown)
