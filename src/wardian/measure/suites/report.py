"""A suite's results as lines, a JSON document and JUnit XML. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from wardian.junit import ERROR, FAILURE, SKIPPED, JunitCase, JunitSuite
from wardian.junit import junit as junit_document
from wardian.measure import refused
from wardian.measure.outcome import SUITE, health
from wardian.measure.suites.comparing import (
    Cause,
    Lost,
    causes,
    gained_cases,
    lost_cases,
    no_wall,
    walls,
)
from wardian.measure.suites.outcomes import BAD, ProgramResult, SuiteOutcome
from wardian.measure.target import Target
from wardian.text import columns, printable

SCHEMA = "wardian.suite/1"
SHOWN_CASES = 8

CallsOf = Mapping[str, Sequence[str]]


class SuiteReport(NamedTuple):
    """Everything about one command: its results, and with what they are compared."""

    results: Sequence[ProgramResult]
    targets: Sequence[Target]
    baseline: str | None = None
    calls_of: CallsOf = MappingProxyType({})
    seconds: float = 0.0

    @property
    def sandboxes(self) -> list[str]:
        return [one.name for one in self.targets]

    @property
    def lost(self) -> list[Lost]:
        """With a baseline: what it has and others have not."""
        return lost_cases(self.results, self.baseline) if self.baseline is not None else []


def is_bad(report: SuiteReport) -> bool:
    """With a baseline, something steady is lost; without, something did not pass."""
    if report.baseline is not None:
        return any(not one.unsteady for one in report.lost)
    return any(one.status in BAD for result in report.results for one in result.outcomes)


def counts(results: Sequence[ProgramResult]) -> Counter[str]:
    """Cases by status."""
    return Counter(one.status for result in results for one in result.outcomes)


def kept_share(report: SuiteReport, sandbox: str) -> tuple[int, int]:
    """Of the cases that pass in the baseline: how many pass there, and how many there are."""
    native = sum(
        one.status == "passed" and not one.flaky
        for result in report.results
        if result.sandbox == report.baseline
        for one in result.outcomes
    )
    lost = sum(
        one.sandbox == sandbox and not one.unsteady and not one.besides for one in report.lost
    )
    return native - lost, native


# Lines


def table(report: SuiteReport) -> list[str]:
    """Programs × sandboxes, each cell the cases that passed of those that were to run."""
    by_program: dict[str, dict[str, ProgramResult]] = {}
    for result in report.results:
        by_program.setdefault(result.program, {})[result.sandbox] = result
    rows = [
        (printable(program), *(_cell(by.get(name)) for name in report.sandboxes), "")
        for program, by in by_program.items()
        if any(one.outcomes for one in by.values())
    ]
    return columns([("program", *report.sandboxes, ""), *rows])


def _cell(result: ProgramResult | None) -> str:
    if result is None or not result.outcomes:
        return "-"
    found = Counter(one.status for one in result.outcomes)
    wanted = sum(found.values()) - found["disabled"]
    rest = [f"{found[name]} {name}" for name in SUITE if found[name] and name in _WORTH]
    return ", ".join([f"{found['passed']}/{wanted}", *rest])


_WORTH = ("failed", "skipped", "crashed", "timeout", "not_run")


def troubles(report: SuiteReport, *, every: bool = False) -> list[str]:
    """With a baseline what is lost, by cause; without, what did not pass."""
    if report.baseline is None:
        return _failures(report.results, every=every)
    lines: list[str] = []
    for sandbox in report.sandboxes:
        found = [one for one in causes(report.lost) if one.sandbox == sandbox]
        if found:
            count = sum(len(one.cases) for one in found)
            if lines:
                lines.append("")
            lines.append(
                f"{_plural(count, 'case')} that pass{'es' if count == 1 else ''} in"
                f" {report.baseline} and not in {sandbox}, by cause"
            )
            for cause in found:
                lines += _of_cause(cause, every=every)
            blamed = walls(report.lost).get(sandbox, {})
            if blamed:
                lines += ["", f"of these pass in {sandbox} without"]
                lines += [f"  {number:>4}  {wall}" for wall, number in blamed.items()]
            lines += [
                f"  {number:>4}  {why}"
                for why, number in no_wall(report.lost).get(sandbox, {}).items()
            ]
    return lines


def _of_cause(cause: Cause, *, every: bool) -> list[str]:
    lines = [f"  {len(cause.cases):>4}  {printable(cause.cause)}"]
    shown = cause.cases if every else cause.cases[:SHOWN_CASES]
    for one in shown:
        lines.append(f"        {one.status:<8}  {printable(f'{one.program}:{one.case}')}")
    if len(shown) < len(cause.cases):
        lines.append(f"        and {len(cause.cases) - len(shown)} more (--all shows them)")
    return lines


def _failures(results: Sequence[ProgramResult], *, every: bool) -> list[str]:
    """Group failures with the same description."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        for one in result.outcomes:
            if one.status in BAD:
                key = (one.status, result.program, result.sandbox, *_about(one))
                groups.setdefault(key, []).append(one.case)
    lines = []
    limit = len(groups) if every else 5 * SHOWN_CASES
    for (status, program, sandbox, *details), cases in list(groups.items())[:limit]:
        more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        lines.append(f"{status}: {printable(f'{program}:{cases[0]}')}{more} in {sandbox}")
        lines += [f"  {printable(line)}" for line in details]
    if len(groups) > limit:
        lines.append(f"and {_plural(len(groups) - limit, 'failure')} more (--all shows them)")
    return lines


def _about(one: SuiteOutcome) -> list[str]:
    details = [f"refused: {refused.short(refusal)}: {refusal.reason}" for refusal in one.refusals]
    return [*([one.detail] if one.detail else []), *details]


def summary(report: SuiteReport) -> list[str]:
    """A line for each sandbox; with a baseline, what is kept of it."""
    lines = []
    for name in report.sandboxes:
        mine = [one for one in report.results if one.sandbox == name]
        found = counts(mine)
        total = sum(found.values())
        rest = ", ".join(f"{found[status]} {status}" for status in SUITE if found[status])
        line = f"{name}: {_plural(total, 'case')} of {_plural(len(mine), 'program')}: {rest}"
        if report.baseline is not None and name != report.baseline:
            kept, native = kept_share(report, name)
            if native:
                line += (
                    f"; of {native} that pass in {report.baseline} {kept} pass"
                    f" ({100 * kept / native:.2f} %)"
                )
        lines.append(line)
    return lines


def by_call(report: SuiteReport) -> dict[str, dict[str, Counter[str]]]:
    """System call → sandbox → cases by status, for programs and cases whose calls are known."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for result in report.results:
        for one in result.outcomes:
            keys = (f"{result.program}:{_plain(one.case)}", result.program)
            calls = next((report.calls_of[key] for key in keys if key in report.calls_of), ())
            for call in calls:
                of_call = found.setdefault(call, {})
                of_call.setdefault(result.sandbox, Counter())[one.status] += 1
    return dict(sorted(found.items()))


def _plain(case: str) -> str:
    """The name in the source: ``Any/Fixture.Case/3`` is Fixture.Case."""
    suite, _, name = case.partition(".")
    parts = suite.split("/")
    suite = parts[1] if len(parts) > 1 and not parts[1].isdigit() else parts[0]
    return f"{suite}.{name.partition('/')[0]}"


def call_lines(report: SuiteReport, *, every: bool = False) -> list[str]:
    """System calls × sandboxes: cases that passed, of those that ran; where all sandboxes come to
    the same it is left out, unless every one is asked for."""
    rows = []
    for call, by in by_call(report).items():
        cells = []
        for name in report.sandboxes:
            found = by.get(name, Counter())
            ran = sum(found.values()) - found["disabled"]
            cells.append(f"{found['passed']}/{ran}" if ran else "-")
        if every or len(set(cells)) > 1:
            rows.append((call, *cells, ""))
    return columns([("syscall", *report.sandboxes, ""), *rows]) if rows else []


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


# Documents


def document(report: SuiteReport) -> dict[str, Any]:
    """The JSON document (docs/reference/suite.md)."""
    lost = report.lost
    return {
        "schema": SCHEMA,
        "sandboxes": [_sandbox(report, one) for one in report.targets],
        "baseline": report.baseline,
        "seconds": round(report.seconds, 3),
        "lost": [_lost(one) for one in lost],
        "causes": [
            {
                "sandbox": one.sandbox,
                "cause": one.cause,
                "count": len(one.cases),
                "cases": [f"{case.program}:{case.case}" for case in one.cases],
            }
            for one in causes(lost)
        ],
        "walls": walls(lost),
        "gained": [
            {"sandbox": sandbox, "program": program, "case": case}
            for sandbox, program, case in (
                gained_cases(report.results, report.baseline) if report.baseline is not None else []
            )
        ],
        "syscalls": {
            call: {name: dict(found) for name, found in by.items()}
            for call, by in by_call(report).items()
        },
        "programs": [_program(result) for result in report.results],
    }


def _sandbox(report: SuiteReport, target: Target) -> dict[str, Any]:
    found = counts([one for one in report.results if one.sandbox == target.name])
    described: dict[str, Any] = {
        "name": target.name,
        "version": target.version,
        "policy_digest": target.policy.digest,
        "degraded": list(target.degraded),
        "cases": {status: found[status] for status in SUITE},
    }
    if report.baseline is not None and target.name != report.baseline:
        kept, native = kept_share(report, target.name)
        described |= {"kept": kept, "of_baseline": native}
    return described


def _lost(one: Lost) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "sandbox": one.sandbox,
        "program": one.program,
        "case": one.case,
        "status": one.status,
        "cause": one.cause,
        "unsteady": one.unsteady,
        "refusals": [],
    }
    if one.here is not None:
        entry["refusals"] = [refused.document(refusal) for refusal in one.here.refusals]
        entry |= {"detail": one.here.detail, "wall": one.here.wall}
        entry["output"] = one.here.output[-4096:]
    return entry


def _program(result: ProgramResult) -> dict[str, Any]:
    entry = result.document()
    del entry["schema"]
    for one in entry["outcomes"]:
        if one["status"] == "passed":
            one.pop("output", None)  # kept in the file of the program; here it is only bulk
    found = Counter(one.status for one in result.outcomes)
    return entry | {"cases": {status: found[status] for status in SUITE if found[status]}}


def junit(report: SuiteReport) -> str:
    """JUnit XML, one suite for each program and sandbox."""
    lost = {(one.sandbox, one.program, one.case): one.cause for one in report.lost}

    def case(result: ProgramResult, one: SuiteOutcome) -> JunitCase:
        group, _, name = one.case.rpartition(".")
        cause = lost.get((result.sandbox, result.program, one.case))
        return JunitCase(
            name,
            ".".join(filter(None, (result.sandbox, result.program, group))),
            one.seconds,
            _JUNIT[health(one.status)],
            cause or one.detail or one.status,
            "\n".join([*_about(one), one.output]),
            one.status,
        )

    return junit_document(
        JunitSuite(
            f"{result.program} [{result.sandbox}]",
            [case(result, one) for one in result.outcomes],
            result.seconds,
        )
        for result in report.results
    )


_JUNIT = {"good": "", "bad": FAILURE, "absent": SKIPPED, "broken": ERROR}
