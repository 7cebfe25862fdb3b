"""What people and machines read about outcomes: a table, a JSON document, JUnit XML. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from wardian.junit import ERROR, FAILURE, SKIPPED, JunitCase, JunitSuite
from wardian.junit import junit as junit_document
from wardian.runner.cases.running import CaseOutcome
from wardian.text import printable

SCHEMA = "wardian.test/1"


def table(outcomes: Sequence[CaseOutcome]) -> list[str]:
    """Skill × script × case, a column for each backend, then what was wrong."""
    backends = list(dict.fromkeys(one.backend for one in outcomes))
    rows: dict[tuple[str, str, str], dict[str, CaseOutcome]] = {}
    for one in outcomes:
        rows.setdefault((one.skill, one.case.script, one.case.name), {})[one.backend] = one
    head = ("skill", "script", "case")
    keys = [tuple(printable(part) for part in key) for key in rows]
    widths = [max(len(row[i]) for row in [head, *keys]) for i in range(3)]
    lines = [_row(head, widths, backends)]
    for key, cells in zip(keys, rows.values(), strict=True):
        lines.append(_row(key, widths, [_cell(cells.get(name)) for name in backends]))
    for one in outcomes:
        if one.verdict in ("fail", "error"):
            lines.append("")
            lines.append(
                f"{one.verdict}: {printable(f'{one.skill} · {one.case.name} · {one.backend}')}"
            )
            lines += [f"  {printable(line)}" for text in one.problems for line in text.split("\n")]
    return lines


def summary(outcomes: Iterable[CaseOutcome]) -> str:
    """One line of counts."""
    counts = Counter(one.verdict for one in outcomes)
    total = sum(counts.values())
    counted = ", ".join(f"{counts[name]} {word}" for name, word in _WORDS.items() if counts[name])
    return f"{total} run{'s' if total != 1 else ''}: {counted or 'none'}"


_WORDS = {"pass": "passed", "fail": "failed", "error": "in error", "skip": "skipped"}


def document(outcomes: Sequence[CaseOutcome]) -> dict[str, Any]:
    """The JSON document (docs/test.md)."""
    counts = Counter(one.verdict for one in outcomes)
    return {
        "schema": SCHEMA,
        "summary": {name: counts[name] for name in _WORDS},
        "outcomes": [
            {
                "skill": one.skill,
                "script": one.case.script,
                "case": one.case.name,
                "backend": one.backend,
                "verdict": one.verdict,
                "problems": list(one.problems),
                "seconds": round(one.seconds, 3),
                "exit_code": one.observed.exit if one.observed is not None else None,
                "files": sorted(one.observed.files) if one.observed is not None else [],
            }
            for one in outcomes
        ],
    }


def junit(outcomes: Sequence[CaseOutcome]) -> str:
    """JUnit XML, one suite for each skill and backend."""
    suites: dict[tuple[str, str], list[JunitCase]] = {}
    for one in outcomes:
        suites.setdefault((one.skill, one.backend), []).append(
            JunitCase(
                one.case.name,
                f"{one.skill}.{one.case.script}",
                one.seconds,
                _JUNIT[one.verdict],
                one.problems[0].split("\n")[0] if one.problems else one.verdict,
                "\n".join(one.problems),
            )
        )
    return junit_document(
        JunitSuite(f"{skill} [{backend}]", cases) for (skill, backend), cases in suites.items()
    )


_JUNIT = {"pass": "", "fail": FAILURE, "error": ERROR, "skip": SKIPPED}


def _row(key: Sequence[str], widths: Sequence[int], cells: Sequence[str]) -> str:
    left = [f"{part:<{width}}" for part, width in zip(key, widths, strict=True)]
    return "  ".join([*left, *(f"{cell:<14}" for cell in cells)]).rstrip()


def _cell(one: CaseOutcome | None) -> str:
    if one is None:
        return ""
    return one.verdict if one.verdict == "skip" else f"{one.verdict} {one.seconds:.2f} s"
