"""The table that people read, and the document that programs do."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.contestants import Contestant
from benchmarks.figures import Numbers
from benchmarks.figures.idle import Idle
from benchmarks.results import Results
from benchmarks.targets import Target

SCHEMA = "wardian-benchmarks/1"


def _cell(numbers: Numbers, name: str, digits: int, *, ratio: bool = True) -> str:
    if name not in numbers:
        return ""
    value = f"{numbers[name].median:.{digits}f}"
    if ratio and name != "bare" and "bare" in numbers:
        value += f" ×{numbers[name].median / numbers['bare'].median:.2f}"
    return value


def _idle(idle: Mapping[str, Idle], name: str) -> str:
    if name not in idle:
        return ""
    found = idle[name]
    if not found.processes:
        return "in the caller"
    return f"{'?' if found.pss_kb is None else f'{found.pss_kb.median:.0f}'} / {found.processes}"


def _row(results: Results, name: str) -> list[str]:
    start = results.start.get(name)
    spread = f"{start.p10:.2f}–{start.p90:.2f}" if start else ""
    row = [name, _cell(results.start, name, 2), spread, _cell(results.imports, name, 1)]
    row += [_cell(numbers, name, 0) for numbers in results.calls.values()] or ["", "", ""]
    row += [_cell(results.loop, name, 2), _idle(results.idle, name)]
    return [*row, _cell(results.rate, name, 0, ratio=False)]


def table(results: Results, names: Sequence[str]) -> str:
    """One row per contestant; a column that nobody has a figure in is left out."""
    head = ["", "/bin/true ms", "p10–p90", "import json ms", "getppid ns", "stat ns"]
    head += ["open+close ns", "shell loop s", "idle kB / procs", "8 at a time /s"]
    rows = [_row(results, name) for name in names]
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    return aligned([[head[i] for i in used], *([row[i] for i in used] for row in rows)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def others(results: Results) -> list[str]:
    """The figures that have no column."""
    lines = [
        f"{work}: " + ", ".join(f"{way} {spread.median:.1f} ms" for way, spread in numbers.items())
        for works in (results.refusals, results.trace, results.suite, results.packages)
        for work, numbers in works.items()
    ]
    for label, numbers in (
        ("/bin/true, one more command", results.living),
        ("/bin/true, a pool", results.pool),
        *((f"Python, {work}", row) for work, row in results.warm.items()),
    ):
        for name, spread in numbers.items():
            lines.append(f"{label}: {name} {spread.median:.2f} ms")
    for name, spread in results.command.items():
        lines.append(f"{name}: {spread.median:.1f} ms ({spread.p10:.1f}–{spread.p90:.1f})")
    for size, numbers in results.parents.items():
        times = ", ".join(f"{name} {spread.median:.2f} ms" for name, spread in numbers.items())
        lines.append(f"/bin/true from a parent of {size}: {times}")
    if results.crowd:
        crowd = results.crowd
        lines.append(
            f"{crowd['asked']:.0f} at once: {crowd['together']:.0f} stood together after "
            f"{crowd['until_all_stand_s']:.1f} s, {crowd['right']:.0f} ended right"
        )
    return lines


def judged(targets: Sequence[Target]) -> str:
    """Met or missed, one line each."""
    rows = [["target", "measured", "wanted", ""]]
    for target in targets:
        sign = "≥" if target.at_least else "≤"
        verdict = "met" if target.met else "MISSED"
        rows.append([target.what, f"{target.value:.2f}", f"{sign} {target.bound:g}", verdict])
    return aligned(rows)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "user": "root" if os.geteuid() == 0 else "ordinary",
        "load_average": os.getloadavg()[0],
    }


def document(
    results: Results,
    contestants: Mapping[str, Contestant],
    absent: Mapping[str, str],
    targets: Sequence[Target],
    measured_on: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything, as JSON can hold it."""
    return {
        "schema": SCHEMA,
        "machine": dict(measured_on),
        "contestants": {
            name: {"version": c.version(), "walls": list(c.walls)}
            for name, c in contestants.items()
        },
        "absent": dict(absent),
        "figures": {name: _plain(value) for name, value in vars(results).items()},
        "targets": [target._asdict() | {"met": target.met} for target in targets],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
