"""SYSCALL_ANALYSIS.md: every system call, whether it works, who needs it. Pure."""

from __future__ import annotations

from collections import Counter

from wardian.evaluation.documents.gathered import Call, Gathered, calls
from wardian.evaluation.documents.markdown import code, several, table, text
from wardian.evaluation.units import OURS

PRIORITIES = ("critical", "high", "medium", "low")
_WORDS = {
    "supported": "works",
    "blocked_expected": "denied",
    "blocked_unexpected": "**denied, and should work**",
    "allowed_unexpected": "**works, and should be denied**",
    "unavailable": "not here",
}


def page(gathered: Gathered) -> str:
    """The whole document."""
    every = calls(gathered)
    used = [one for one in every if one.use.skills]
    measured = [one for one in every if one.cells]
    lines = [
        f"# System calls, {gathered.campaign.night}", "",
        f"The table has {several(len(every), 'call')}; specimens of their own measured "
        f"{len(measured)}, and the traced cases of skills make {len(used)}. A call is *critical* "
        "if skills in several languages make it, *high* if several skills do, *medium* if one "
        "does, *low* if none was seen to.", "",
        *_counts(gathered, every), *_gaps(gathered, used), *_matrix(gathered, every),
    ]  # fmt: skip
    return "\n".join(lines)


def _counts(gathered: Gathered, every: list[Call]) -> list[str]:
    rows = []
    for sandbox in gathered.sandboxes:
        counts = Counter(one.cells[sandbox] for one in every if sandbox in one.cells)
        if counts:
            cells = [str(counts[status]) for status in _WORDS]
            rows.append((sandbox, str(counts.total()), *cells))
    if not rows:
        return ["No specimen of a single system call was measured.", ""]
    return table(("sandbox", "measured", *(word.strip("*") for word in _WORDS.values())), rows)


def _gaps(gathered: Gathered, used: list[Call]) -> list[str]:
    """Calls that skills make and that do not work in our sandbox, by measurement or by table."""
    lines = ["## Gaps", ""]
    wrong = [
        one for one in used
        if one.cells.get(OURS, "") in ("blocked_expected", "blocked_unexpected")
        or (OURS not in one.cells and one.decision in ("deny", "absent"))
    ]  # fmt: skip
    if not wrong:
        return [*lines, "None: every call that the skills make works, or is open by the table.", ""]
    rows = [
        (code(one.name), one.priority, ", ".join(map(text, sorted(one.use.skills))),
         _WORDS.get(one.cells.get(OURS, ""), one.decision), text(one.reason))
        for one in wrong
    ]  # fmt: skip
    note = "Made by skills and refused; the skills' own cases tell whether they can do without."
    return [*lines, note, "", *table(("call", "priority", "skills", "here", "why"), rows)]


def _matrix(gathered: Gathered, every: list[Call]) -> list[str]:
    lines = ["## All of them", ""]
    order = {name: number for number, name in enumerate(PRIORITIES)}
    rows = []
    for one in sorted(every, key=lambda call: (order[call.priority], call.name)):
        cells = [_WORDS.get(one.cells.get(name, ""), one.cells.get(name, "")) or "not measured"
                 for name in gathered.sandboxes]  # fmt: skip
        specimens = ", ".join(code(name) for name in one.specimens[:3])
        rows.append((code(one.name), one.group, one.priority, one.decision, *cells, specimens,
                     ", ".join(map(text, sorted(one.use.skills)))))  # fmt: skip
    head = ("call", "group", "priority", "table", *gathered.sandboxes, "specimens", "made by")
    return [*lines, *table(head, rows)]
