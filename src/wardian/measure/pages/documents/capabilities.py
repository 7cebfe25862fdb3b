"""CAPABILITIES.md: what a program can do in each sandbox, by domain. Pure."""

from __future__ import annotations

from wardian.measure.pages.documents.gathered import Gathered
from wardian.measure.pages.documents.markdown import code, table, text
from wardian.measure.store.model import Measurement

_WORDS = {
    "supported": "yes",
    "blocked_expected": "no",
    "blocked_unexpected": "**no!**",
    "allowed_unexpected": "**yes!**",
    "unavailable": "–",
}


def page(gathered: Gathered) -> str:
    """The whole document."""
    lines = [
        f"# Capabilities, {gathered.campaign.night}", "",
        "yes: allowed. no: blocked, as it should be. With an exclamation mark: not as it should "
        "be. –: can't be asked here. Each was tried by a small program, just now or when anything "
        "it depends on last changed.", "",
    ]  # fmt: skip
    domains: dict[str, dict[str, dict[str, Measurement]]] = {}
    for one in gathered.of("probe"):
        by_name = domains.setdefault(one.case.group, {})
        by_name.setdefault(one.case.name, {})[one.case.sandbox] = one
    for domain in sorted(domains):
        lines += [f"## {domain}", ""]
        rows = []
        for name, cells in sorted(domains[domain].items()):
            first = next(iter(cells.values()))
            told = [_cell(cells.get(sandbox)) for sandbox in gathered.sandboxes]
            title = text(str(first.case.about.get("title", "")))
            since = max(gathered.comparison.flips.get(c.case.identity, "") for c in cells.values())
            rows.append((code(name), title, *told, since))
        lines += table(("probe", "what", *gathered.sandboxes, "unchanged since"), rows)
    return "\n".join(lines)


def _cell(one: Measurement | None) -> str:
    if one is None:
        return ""
    word = _WORDS.get(one.status, one.status)
    return f"{word} {one.outcome.errno}" if one.outcome.errno else word
