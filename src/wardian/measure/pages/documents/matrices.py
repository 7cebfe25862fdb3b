"""Results by sandbox as Markdown: capabilities, skills, system calls. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from wardian.measure.outcome import Status
from wardian.measure.pages import views
from wardian.measure.pages.documents.markdown import SIGNS, code, score, several, table, text
from wardian.measure.pages.documents.syscalls import analysis
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.labels import label
from wardian.measure.pages.views import CaseCell
from wardian.measure.skills.inventory import TIERS
from wardian.measure.store.model import Measurement

NO_SPECIMEN = "No system call was measured."


def system_calls(facts: Facts) -> str:
    """SYSCALL_ANALYSIS.md, as `wardian syscalls coverage` writes it, for this campaign."""
    if not facts.matrix.sandboxes:
        return f"# System calls, {facts.campaign.night}\n\n{NO_SPECIMEN}\n"
    return analysis(facts.matrix, facts.artifacts, facts.uses)


def capabilities(facts: Facts) -> str:
    """CAPABILITIES.md: what a program can do in each sandbox, by domain."""
    lines = [
        f"# Capabilities, {facts.campaign.night}", "",
        "yes: allowed. no: blocked, as expected. With an exclamation mark: not as expected. "
        "–: can't be tested here. A small program tried each, in this campaign or when anything it "
        "depends on last changed.", "",
    ]  # fmt: skip
    flips = facts.comparison.flips
    for domain, rows in groupby(views.rows(facts, "probe", "name"), lambda one: one.group):
        cells = []
        for row in rows:
            known = [one.result.case for one in row.cells if one.result is not None]
            since = max(flips.get(case.identity, "") for case in known)
            cells.append((code(row.name), text(row.title), *map(_capability, row.cells), since))
        lines += [f"## {domain}", ""]
        lines += table(("probe", "what", *map(label, facts.sandboxes), "unchanged since"), cells)
    return "\n".join(lines)


def _capability(cell: CaseCell) -> str:
    if cell.result is None:
        return ""
    word, errno = _word(cell.sign), cell.result.outcome.errno
    return f"{word} {errno}" if errno else word


def _word(status: Status) -> str:
    """Bold where it is unexpected."""
    shown = {"bad": f"**{status.word.lower()}**", "none": status.symbol, "lost": status.name}
    return shown.get(status.tone, status.word)


def skills(facts: Facts) -> str:
    """SKILLS_COMPATIBILITY_MATRIX.md: skills × sandboxes, with tiers, and every case."""
    lines = [
        f"# Skills, {facts.campaign.night}", "",
        "Each case ran in each sandbox, and its output was checked. "
        f"{SIGNS['good']} all cases pass, {SIGNS['bad']} some do not, {SIGNS['absent']} none "
        "could run there.", "",
    ]  # fmt: skip
    if not facts.skills:
        return "\n".join([*lines, "There are no skills to measure.", ""])
    head, rows = skill_rows(facts)
    lines += table(head, rows)
    lines += [f"- tier {number}: needs {what}" for number, what in TIERS.items()]
    lines.append("")
    for entry in facts.skills:
        lines += _skill(facts, entry)
    return "\n".join(lines)


def skill_rows(facts: Facts) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of the table of skills."""
    rows = []
    for entry in facts.skills:
        languages = sorted({one["language"] for one in entry["scripts"] if one["language"]})
        cells = []
        for sandbox in facts.sandboxes:
            ones = [one for one in facts.of("skill", sandbox) if one.case.group == entry["name"]]
            cells.append(score(ones, sandbox) or (SIGNS["absent"] if ones else ""))
        rows.append((
            text(entry["name"]), str(entry["tier"]), ", ".join(languages),
            str(len(entry["cases"])), *cells,
        ))  # fmt: skip
    return ("skill", "tier", "languages", "cases", *map(label, facts.sandboxes)), rows


def _skill(facts: Facts, entry: Mapping[str, Any]) -> list[str]:
    lines = [f"## {text(entry['name'])}", ""]
    if entry["problem"]:
        return [*lines, f"Can't be read: {text(entry['problem'])}", ""]
    if not entry["cases"]:
        return [*lines, "It has no cases (`cases.toml`), so nothing was measured.", ""]
    rows = []
    for name in entry["cases"]:
        full = f"{entry['name']}/{name}"
        known = [facts.known.get(("skill", full, sandbox)) for sandbox in facts.sandboxes]
        rows.append((code(name), *map(_case, known)))
    lines += table(("case", *map(label, facts.sandboxes)), rows)
    made = next((one.calls for one in facts.uses if one.name == entry["name"]), ())
    if made:
        lines += [f"It makes {several(len(made), 'system call')}: {code(' '.join(made), 4000)}", ""]
    return lines


def _case(one: Measurement | None) -> str:
    return f"{SIGNS[one.health]} {one.status}" if one is not None else ""
