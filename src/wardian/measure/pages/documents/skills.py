"""SKILLS_COMPATIBILITY_MATRIX.md: skills × sandboxes, with tiers, and every case. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wardian.measure.campaign.inventory import TIERS
from wardian.measure.pages.documents.gathered import Gathered
from wardian.measure.pages.documents.markdown import SIGNS, code, several, table, text
from wardian.measure.store.model import Measurement


def page(gathered: Gathered) -> str:
    """The whole document."""
    lines = [
        f"# Skills, {gathered.campaign.night}", "",
        "Measured: each case ran in each sandbox, and what came of it was checked. "
        f"{SIGNS['good']} all cases pass, {SIGNS['bad']} some do not, {SIGNS['absent']} none "
        "could be asked there.", "",
    ]  # fmt: skip
    if not gathered.skills:
        return "\n".join([*lines, "No skills were given.", ""])
    head, rows = skill_rows(gathered)
    lines += table(head, rows)
    lines += [f"- tier {number}: needs {what}" for number, what in TIERS.items()]
    lines.append("")
    for entry in gathered.skills:
        lines += _skill(gathered, entry)
    return "\n".join(lines)


def skill_rows(gathered: Gathered) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of the table of skills."""
    rows = []
    for entry in gathered.skills:
        languages = sorted({one["language"] for one in entry["scripts"] if one["language"]})
        cells = [_cell(_ones(gathered, entry, sandbox), sandbox) for sandbox in gathered.sandboxes]
        rows.append((
            text(entry["name"]), str(entry["tier"]), ", ".join(languages),
            str(len(entry["cases"])), *cells,
        ))  # fmt: skip
    return ("skill", "tier", "languages", "cases", *gathered.sandboxes), rows


def _ones(gathered: Gathered, entry: Mapping[str, Any], sandbox: str) -> list[Measurement]:
    return [one for one in gathered.of("skill", sandbox) if one.case.group == entry["name"]]


def _cell(ones: list[Measurement], sandbox: str) -> str:
    asked = [one for one in ones if one.health != "absent"]
    if not asked:
        return SIGNS["absent"] if ones else ""
    good = sum(one.health == "good" for one in asked)
    sign = SIGNS["good"] if good == len(asked) else SIGNS["bad"]
    return f"{sign} [{good} of {len(asked)}](evidence/skill-{sandbox}.md)"


def _skill(gathered: Gathered, entry: Mapping[str, Any]) -> list[str]:
    lines = [f"## {text(entry['name'])}", ""]
    if entry["problem"]:
        return [*lines, f"Can't be read: {text(entry['problem'])}", ""]
    if not entry["cases"]:
        return [*lines, "It has no cases (`cases.toml`), so nothing is known of it.", ""]
    rows = []
    for name in entry["cases"]:
        cells = []
        for sandbox in gathered.sandboxes:
            full = f"{entry['name']}/{name}"
            one = next((r for r in _ones(gathered, entry, sandbox) if r.case.name == full), None)
            cells.append(f"{SIGNS[one.health]} {one.status}" if one is not None else "")
        rows.append((code(name), *cells))
    made = sorted({
        call for one in gathered.of("trace") if one.case.group == entry["name"]
        for call in one.outcome.evidence.get("syscalls", [])
    })  # fmt: skip
    lines += table(("case", *gathered.sandboxes), rows)
    if made:
        lines += [f"It makes {several(len(made), 'system call')}: {code(' '.join(made), 4000)}", ""]
    return lines
