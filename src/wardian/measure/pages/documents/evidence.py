"""The pages to which numbers link: every case of a kind in a sandbox, by health. Pure."""

from __future__ import annotations

from typing import Any

from wardian.measure import refused
from wardian.measure.pages.documents.markdown import SIGNS, code, several, table, text
from wardian.measure.pages.facts import Facts
from wardian.measure.store.model import Measurement

ORDER = ("bad", "broken", "absent", "good")
_WORDS = {
    "good": "As expected",
    "bad": "Not as expected",
    "broken": "No outcome",
    "absent": "Can't be tested here",
}


def pages(facts: Facts) -> dict[str, str]:
    """File name → page."""
    pairs = sorted({(one.case.kind, one.case.sandbox) for one in facts.results})
    return {f"{kind}-{sandbox}.md": _page(facts, kind, sandbox) for kind, sandbox in pairs}


def _page(facts: Facts, kind: str, sandbox: str) -> str:
    ones = facts.of(kind, sandbox)
    campaign = facts.campaign
    lines = [
        f"# {kind} in {sandbox}, {campaign.night}", "",
        f"{several(len(ones), 'case')}, Linux {text(campaign.kernel)} on {campaign.machine}, "
        f"wardian {campaign.wardian}, policy {code(campaign.policy_digest[:19])}. "
        "Measured: the campaign that ran it; results whose dependencies did not change are "
        "reused.", "",
    ]  # fmt: skip
    for health in ORDER:
        chosen = [one for one in ones if one.health == health]
        # Each health has a heading, so that links to it work where the count is 0.
        lines += [f"## {health}", "", f"{_WORDS[health]}: {len(chosen)}.", ""]
        if chosen:
            lines += table(
                ("case", "status", "since", "what", "measured"),
                [_row(facts, one) for one in chosen],
            )
        for one in chosen if health in ("bad", "broken") else ():
            lines += _details(one)
    return "\n".join(lines)


def _row(facts: Facts, one: Measurement) -> tuple[str, ...]:
    since = facts.comparison.flips.get(one.case.identity, "")
    own = one.measured_in == facts.campaign.uid
    measured = "now" if own else f"{one.time[:10]} ({one.measured_in[:8]})"
    status = f"{SIGNS[one.health]} {one.status}" + (f" {one.outcome.errno}" if one.outcome.errno
                                                    else "")  # fmt: skip
    what = one.outcome.cause or one.outcome.detail or str(one.case.about.get("title", ""))
    return code(one.case.name), status, since, text(what), measured


def _details(one: Measurement) -> list[str]:
    evidence: dict[str, Any] = dict(one.outcome.evidence)
    lines = [f"### {code(one.case.name)}", ""]
    for problem in evidence.get("problems", [])[:5]:
        lines.append(f"- {text(problem, 600)}")
    for refusal in one.outcome.refusals[:10]:
        reason = f": {text(refusal.reason)}" if refusal.reason else ""
        lines.append(f"- refused: {code(refused.text(refusal))}{reason}")
    for check in evidence.get("artifact", {}).get("checks", []):
        if check["ok"] is False:
            lines.append(f"- check {code(check['name'])}: {text(check['detail'])}")
    return [*lines, ""]
