"""Markdown: tables, links, and escaped text of others. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wardian.measure.store.model import Measurement
from wardian.text import cut, printable

SIGNS = {"good": "✓", "bad": "✗", "broken": "!", "absent": "–"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
MAX_CELL = 300


def text(raw: str, limit: int = MAX_CELL) -> str:
    """Text of others in one line, with all markup escaped."""
    return _SPECIAL.sub(r"\\\1", cut(printable(raw), limit))


def code(raw: str, limit: int = MAX_CELL) -> str:
    """Text of others as code."""
    plain = cut(printable(raw), limit)
    fence = "``" if "`" in plain else "`"
    inner = f" {plain} " if fence == "``" else plain
    return f"{fence}{inner}{fence}".replace("|", "\\|") if plain else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; cells are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return [*lines, ""]


def number(value: float, kind: str, sandbox: str, health: str = "") -> str:
    """A number that links to the cases it counts."""
    shown = str(int(value))
    anchor = f"#{health}" if health else ""
    return f"[{shown}](evidence/{kind}-{sandbox}.md{anchor})"


def score(results: Iterable[Measurement], sandbox: str) -> str:
    """How many cases of skills pass, of those that could run; empty if none could."""
    asked = [one for one in results if one.health != "absent"]
    good = sum(one.health == "good" for one in asked)
    sign = SIGNS["good"] if good == len(asked) else SIGNS["bad"]
    return f"{sign} [{good} of {len(asked)}](evidence/skill-{sandbox}.md)" if asked else ""


def block(raw: str, language: str = "") -> list[str]:
    """A fenced block whose content can't end it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", raw)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language}", raw.rstrip("\n"), fence, ""]


def several(count: int, word: str) -> str:
    """1 case, 2 cases."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
