"""The pages about system calls, in Markdown: the reference, and the analysis. Pure.

The reference is generated from the table and is the same on every host. The analysis shows what
was measured, in the form of the handwritten analyses of gVisor's tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wardian.measure.outcome import CALL
from wardian.measure.pages.documents.markdown import table
from wardian.measure.probes.artifact import Artifact
from wardian.measure.syscalls.matrix import CallLine, Matrix
from wardian.measure.syscalls.report import lacking, served
from wardian.measure.syscalls.usage import CallUse
from wardian.measure.target import HOST
from wardian.syscalls.knowledge import INTERPRETERS, PRIORITIES, Knowledge, known
from wardian.syscalls.table import Row, groups, rows
from wardian.text import cut, printable

SCHEMA = "wardian.syscalls-docs/1"
REFERENCE = "syscalls.md"
ANALYSIS = "GVISOR_SYSCALL_ANALYSIS.md"
_TITLES = {
    "critical": "Critical: every interpreter needs it",
    "high": "High: several interpreters need it",
    "medium": "Medium: one interpreter or the common tools need it",
    "low": "Low: specialised",
}
_DECIDED = {
    "allow": "allowed",
    "when": "allowed under conditions",
    "deny": "denied",
    "absent": "absent",
}
_WIDE = 200


# The reference


def reference() -> str:
    """docs/reference/syscalls.md."""
    parts = [
        "# Every system call",
        "<!-- Written by `wardian syscalls docs`; edit table.tsv and knowledge.tsv instead. -->",
        "What the default policy decides for each system call of Linux 6.18 on x86-64 and arm64, "
        "why, how much it matters, and who tests it. [The table](syscall-table.md) says what the "
        "columns mean; `wardian syscalls show NAME` shows all of it for one call, with the "
        "measured support ([docs/syscalls.md](../syscalls.md)).",
        _totals(),
        "A call is **critical** if every interpreter that was traced makes it "
        f"({', '.join(INTERPRETERS)}), **high** if two or more do, **medium** if one does or the "
        "common tools do, **low** otherwise; or more urgent, where LiteBox's analysis of gVisor's "
        "tests named it so. *Used by* is what was seen on Debian 12 (x86-64). Tests are files of "
        "gVisor's `test/syscalls/linux`.",
    ]
    for name, members in groups().items():
        parts.append(f"## {name}")
        parts.append(_reference_table(members))
    return "\n\n".join(parts) + "\n"


def _totals() -> str:
    kinds = list(_DECIDED)
    lines = []
    for priority in (*PRIORITIES, None):
        ones = [row for row in rows() if priority in (known()[row.name].priority, None)]
        counts = [sum(row.kind == kind for row in ones) for kind in kinds]
        lines.append([priority or "all", *map(str, (*counts, len(ones)))])
    return _table(["priority", *(_DECIDED[kind] for kind in kinds), "all"], lines)


def _reference_table(members: Iterable[Row]) -> str:
    head = ("call", "x86-64", "arm64", "decision", "why", "priority", "used by", "manual")
    lines = [_reference_row(row, known()[row.name]) for row in members]
    return _table([*head, "gVisor tests"], lines)


def _reference_row(row: Row, knowledge: Knowledge) -> list[str]:
    users = " ".join(knowledge.used_by)
    using = "all" if set(INTERPRETERS) <= set(knowledge.used_by) else users
    cells = (
        f"`{row.name}`",
        _number(row.x86_64),
        _number(row.arm64),
        _DECIDED[row.kind],
        row.reason,
        knowledge.priority,
        using or "–",
        f"{knowledge.man}(2)" if knowledge.man else "–",
        " ".join(f"`{name}`" for name in knowledge.tests) or "–",
    )
    return [_cell(text) for text in cells]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(table(head, rows)).rstrip("\n")


def _number(number: int | None) -> str:
    return "–" if number is None else str(number)


def _cell(text: str) -> str:
    """Escaped text of a cell."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


# The analysis


def analysis(matrix: Matrix, artifacts: Sequence[Artifact], uses: Sequence[CallUse]) -> str:
    """GVISOR_SYSCALL_ANALYSIS.md."""
    day = max(one.time for one in artifacts)[:10]
    parts = [
        f"# gVisor syscall analysis: {day}",
        "<!-- Written by `wardian syscalls docs` from measurements; do not edit. -->",
        "## Summary",
        *_summary(matrix, artifacts),
        "## Syscall coverage matrix",
        "A call is *supported* if every check of its specimens holds, *partial* if some do, "
        "*denied* if it is refused, *missing* if there is no such call. Two numbers are checks "
        "that hold, and checks that could be asked.",
    ]
    for priority in PRIORITIES:
        lines = [line for line in matrix.lines if line.knowledge.priority == priority]
        if lines:
            parts += [f"### {_TITLES[priority]}", _matrix_table(lines, matrix)]
    parts += ["## Gaps identified", *_gaps(matrix)]
    parts += ["## What programs need", _programs(matrix, uses)] if uses else []
    parts += ["## Recommendations", _recommendations(matrix, uses)]
    parts += ["## gVisor test references", *_test_references(matrix)]
    return "\n\n".join(parts) + "\n"


def _summary(matrix: Matrix, artifacts: Sequence[Artifact]) -> list[str]:
    head = ["sandbox", "version", *CALL, "unmeasured"]
    lines = []
    for name in matrix.sandboxes:
        counts = matrix.counts(name)
        version = next(one.sandbox_version for one in artifacts if one.sandbox == name)
        version = version.partition("-")[0] if name == HOST else version
        lines.append([name, _cell(version), *(str(counts[key]) for key in (*CALL, "unmeasured"))])
    one = artifacts[0]
    kernel = _cell(one.kernel.partition("-")[0])
    parts = [f"Measured on Linux {kernel} ({matrix.arch}), as {_caller(one.uid)}."]
    if matrix.differences is not None:
        count = len(matrix.differences)
        parts.append(
            f"{count} checks came to something else than on the host; policy, or an expectation "
            f"with its reason, explains {count - len(matrix.unexplained)} of them."
        )
    return [_table(head, lines), " ".join(parts)]


def _caller(uid: int) -> str:
    return "root" if uid == 0 else "an ordinary user"


def _matrix_table(lines: Sequence[CallLine], matrix: Matrix) -> str:
    head = ["syscall", *matrix.sandboxes, "gVisor test", "priority", "notes"]
    found = []
    for line in lines:
        tests = " ".join(f"`{name}`" for name in line.knowledge.tests[:2]) or "–"
        cells = [f"`{line.name}`", *(_status(line, name) for name in matrix.sandboxes)]
        cells += [tests, line.knowledge.priority, _cell(_notes(line))]
        found.append(cells)
    return _table(head, found)


def _status(line: CallLine, sandbox: str) -> str:
    if sandbox not in line.cells:
        return "–"
    cell = line.cells[sandbox]
    checks = "" if cell.status in ("denied", "missing") else f" {cell.ok}/{cell.asked}"
    return (f"**{cell.status}**" if cell.status == "partial" else cell.status) + checks


def _notes(line: CallLine) -> str:
    """The notes of each sandbox, and the table's reason where the call is denied."""
    notes = [
        f"{name}: {cell.note}"
        for name, cell in line.cells.items()
        if cell.status == "partial" or (cell.note and cell.status == "supported")
    ]
    if any(cell.status == "denied" for cell in line.cells.values()):
        notes.append(line.row.reason)
    return cut("; ".join(notes), _WIDE)


def _gaps(matrix: Matrix) -> list[str]:
    """For each sandbox: what is not supported, by status."""
    parts = []
    for name in matrix.sandboxes:
        parts.append(f"### In {name}")
        ones = [line for line in matrix.lines if name in line.cells]
        listed = []
        for status in CALL[1:]:
            found = [line for line in ones if line.cells[name].status == status]
            if status == "partial":
                listed += [
                    f"- `{line.name}` ({line.knowledge.priority}) is partial: "
                    f"{_cell(cut(line.cells[name].note, _WIDE))}"
                    for line in found
                ]
            elif found:
                names = ", ".join(f"`{line.name}`" for line in found)
                listed.append(f"- {len(found)} {status}: {names}")
        unmeasured = matrix.unmeasured[name]
        if unmeasured:
            listed.append(
                f"- {len(unmeasured)} not measured: {', '.join(f'`{n}`' for n in unmeasured)}"
            )
        parts.append("\n".join(listed) or "None.")
    return parts


def _programs(matrix: Matrix, uses: Sequence[CallUse]) -> str:
    head = ["program", "calls it makes", *(f"supported in {name}" for name in matrix.sandboxes)]
    lines = []
    for use in uses:
        name = f"skill {use.name}" if use.kind == "skill" else use.name
        if use.problem:
            cells = [name, "–", *("–" for _ in matrix.sandboxes), use.problem]
        else:
            found = [served(use, matrix, sandbox) for sandbox in matrix.sandboxes]
            counts = [f"{one['supported']} of {one['of']}" for one in found]
            cells = [name, str(len(use.calls)), *counts, cut(lacking(use, matrix), _WIDE) or "–"]
        lines.append([_cell(text) for text in cells])
    return _table([*head, "lacking"], lines)


def _recommendations(matrix: Matrix, uses: Sequence[CallUse]) -> str:
    """What to do next, most urgent first; each follows from something that was measured."""
    found: list[tuple[int, str]] = []
    users = _users(uses)
    for one in matrix.unexplained:
        urgent = PRIORITIES.index(known()[one.syscall].priority)
        what = one.errno or ("it works there alone" if one.ok else "fails")
        found.append((
            urgent,
            f"`{one.syscall}` in {one.sandbox}: find out why {one.check} differs from the host "
            f"({what}); see {_tests(one.syscall)}.",
        ))  # fmt: skip
    for line in matrix.lines:
        without = [
            f"{cell.status} in {name}"
            for name, cell in line.cells.items()
            if name != HOST and cell.status in ("denied", "missing")
        ]
        if without and users.get(line.name):
            advice = f"`{line.name}` is {', '.join(without)} and made by "
            advice += f"{', '.join(users[line.name])}: make sure that each goes on without it."
            found.append((PRIORITIES.index(line.knowledge.priority), advice))
    for name, calls in matrix.unmeasured.items():
        if calls and name == matrix.sandboxes[0]:
            found.append(
                (len(PRIORITIES), f"Write specimens for {len(calls)} calls that have none.")
            )
    if not found:
        return (
            "None: every call that programs make is supported, and nothing differs from the host "
            "without a reason."
        )
    ordered = sorted(found, key=lambda one: one[0])
    return "\n".join(f"{number}. {_cell(text)}" for number, (_, text) in enumerate(ordered, 1))


def _users(uses: Iterable[CallUse]) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for use in uses:
        for call in use.calls:
            users.setdefault(call, []).append(use.name)
    return users


def _tests(name: str) -> str:
    tests = known()[name].tests
    return " ".join(f"`{one}`" for one in tests) or f"{name}(2)"


def _test_references(matrix: Matrix) -> list[str]:
    """Each test file, with the calls that it exercises."""
    by_file: dict[str, list[str]] = {}
    for line in matrix.lines:
        for file in line.knowledge.tests:
            by_file.setdefault(file, []).append(line.name)
    untested = [line.name for line in matrix.lines if not line.knowledge.tests]
    lines = [
        (f"`{file}`", " ".join(f"`{name}`" for name in by_file[file])) for file in sorted(by_file)
    ]
    return [
        f"{len(by_file)} files of gVisor's `test/syscalls/linux` exercise these calls; "
        "`wardian suite` runs them in any sandbox.",
        _table(["file", "calls"], lines),
        f"No test there exercises {len(untested)} calls: "
        + ", ".join(f"`{name}`" for name in untested) + ".",
    ]  # fmt: skip
