"""The protocols of programs that are one test, or print their own: TAP, and plain exit codes. Pure.

TAP is what kselftest prints; LTP and most others only end with a number.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from wardian.measure.suites.outcomes import PROGRAM_CASE
from wardian.text import signal_name

# kselftest's KSFT_SKIP, LTP's TCONF, automake's own
SKIPS = {4: "kselftest's exit code for a skip", 32: "LTP's TCONF", 77: "automake's exit code"}
MAX_POINTS = 100_000

_VERSION = re.compile(r"^TAP version \d+\s*$", re.M)
_PLAN = re.compile(r"^1\.\.(\d{1,7})(?:\s*#\s*skip\S*\s*(.*))?\s*$", re.I)
_POINT = re.compile(r"^(not ok|ok)\b[ \t]*(\d{1,7})?[ \t]*(?:-[ \t]*)?(.*)$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(skip|todo|xfail)\b:?\s*(.*)$", re.I)


class Point(NamedTuple):
    """A case, its status, and a line about it."""

    case: str
    status: str
    detail: str = ""
    output: str = ""


def is_tap(text: str) -> bool:
    """It says so, or it has a plan and points."""
    lines = text.splitlines()
    return bool(_VERSION.search(text)) or (
        any(_PLAN.match(line) for line in lines) and any(_POINT.match(line) for line in lines)
    )


def parse_tap(text: str) -> tuple[list[Point], int | None]:
    """The points in their order, and how many were planned. Subtests, which are indented, and
    diagnostics belong to the point that follows them, or precedes them at the end."""
    points: list[Point] = []
    planned: int | None = None
    said: list[str] = []
    names: dict[str, int] = {}
    for line in text.splitlines():
        plan, point = _PLAN.match(line), _POINT.match(line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                points.append(Point(PROGRAM_CASE, "skipped", plan[2] or ""))
        elif point and len(points) < MAX_POINTS:
            points.append(_point(point, len(points) + 1, names)._replace(output="\n".join(said)))
            said = []
        else:
            said.append(line)
    if said and points:
        last = points[-1]
        points[-1] = last._replace(output="\n".join(filter(None, (last.output, *said))))
    return points, planned


def _point(found: re.Match[str], position: int, names: dict[str, int]) -> Point:
    directive = _DIRECTIVE.search(found[3])
    name = (found[3][: directive.start()] if directive else found[3]).strip()
    name = name or found[2] or str(position)
    names[name] = names.get(name, 0) + 1
    if names[name] > 1:
        name = f"{name} #{names[name]}"
    status, detail = ("passed" if found[1] == "ok" else "failed"), ""
    if directive:
        detail = directive[2].strip()
        word = directive[1].lower()
        if word == "skip":
            status = "skipped"
        elif status == "failed":  # expected to fail, by its author
            status, detail = "skipped", f"{word} {detail}".strip()
    return Point(name, status, detail)


class ProgramEnd(NamedTuple):
    """How the program ended: an exit code, or a signal."""

    code: int
    signal: int | None = None
    reason: str = ""  # a limit of the sandbox's, where one ended it

    @property
    def wording(self) -> str:
        """What a sentence about it goes on with."""
        if self.reason:
            return f"was ended by the {self.reason}"
        return f"ended with {signal_name(self.signal) if self.signal else f'exit code {self.code}'}"


def judge_exit(end: ProgramEnd) -> tuple[str, str]:
    """Status and a line, for a program whose exit code is all it says."""
    if end.signal or end.reason:
        return "crashed", f"it {end.wording}"
    if end.code == 0:
        return "passed", ""
    if end.code in SKIPS:
        return "skipped", f"exit code {end.code}: {SKIPS[end.code]}"
    return "failed", f"exit code {end.code}"


def judge_tap(text: str, end: ProgramEnd) -> list[Point]:
    """Every point, those that were planned and never came, and how the program ended."""
    points, planned = parse_tap(text)
    if points and points[-1].case == PROGRAM_CASE and not end.signal:
        return points
    missing = max(0, (planned or 0) - len(points))
    died = end.signal or end.reason or (end.code not in (0, 1, 4) and missing)
    if died or (planned is None and not points):
        points.append(Point(PROGRAM_CASE, "crashed" if died else "failed", f"it {end.wording}"))
    elif missing:
        points.append(Point(PROGRAM_CASE, "failed", f"{missing} of {planned} points never came"))
    elif end.code not in (0, 4) and all(one.status != "failed" for one in points):
        points.append(Point(PROGRAM_CASE, "failed", f"it {end.wording}"))
    first = len(points) + 1
    lost = range(first, first + min(missing, MAX_POINTS))
    return points + [Point(str(n), "not_run", "it was planned and never came") for n in lost]
