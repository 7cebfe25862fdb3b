"""The action that follows from a campaign: none, a comment, an issue or a pull request. Pure.

One pull request is open at a time: while there is one, new findings become comments on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wardian.measure.findings.patches import patch_conflicts
from wardian.measure.pages.documents.evaluation import finding_lines, headline
from wardian.measure.pages.documents.markdown import block, several, text
from wardian.measure.pages.facts import Facts
from wardian.measure.store.model import Finding

SCHEMA = "wardian.decision/1"
ACTIONS = ("noop", "comment", "issue", "pull-request")
MAX_BODY = 60_000  # GitHub takes 65536 characters
MAX_TITLE = 200


class OpenOnes(NamedTuple):
    """Open pull requests and issues of ours, by number."""

    pulls: tuple[int, ...] = ()
    issues: tuple[int, ...] = ()


class Decision(NamedTuple):
    """``reason`` is one line; ``target`` the number of the pull request or issue to comment on;
    ``patch`` the text of the patch for a pull request, and ``patches`` the findings it fixes."""

    action: str
    reason: str
    title: str = ""
    body: str = ""
    target: int | None = None
    patch: str = ""
    patches: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"schema": SCHEMA} | self._asdict() | {"patches": list(self.patches)}


def decide(facts: Facts, before: Sequence[Finding], open_ones: OpenOnes, prefix: str) -> Decision:
    """``before`` are the findings of the campaign that this one was compared with."""
    known = {one.slug for one in before}
    new = [one for one in facts.findings if one.slug not in known]
    gone = known - {one.slug for one in facts.findings}
    if not new:
        return _nothing_new(facts, sorted(gone))
    mended = [one for one in new if _verified(one)]
    body = _body(facts, new, gone)
    reason = f"{several(len(new), 'new finding')}, {len(mended)} with a verified patch"
    title = f"{prefix} {_title(new)}".strip()[:MAX_TITLE]
    if open_ones.pulls:
        return Decision(
            "comment", f"{reason}; #{open_ones.pulls[0]} is open", title, body, open_ones.pulls[0]
        )
    if mended:
        chosen, patch = _joined(mended)
        return Decision("pull-request", reason, title, body, None, patch, tuple(chosen))
    if open_ones.issues:
        number = open_ones.issues[0]
        return Decision("comment", f"{reason}; #{number} is open", title, body, number)
    return Decision("issue", reason, title, body)


def _nothing_new(facts: Facts, gone: Sequence[str]) -> Decision:
    findings, comparison = facts.findings, facts.comparison
    same = f"the same {several(len(findings), 'finding')} as before" if findings else "no finding"
    left = f", {several(len(gone), 'finding')} gone" if gone else ""
    if comparison.unchanged and comparison.stable_since is not None:
        same = f"unchanged since {comparison.stable_since.night}: {same}"
    return Decision("noop", f"{same}{left}; {several(len(facts.results), 'result')}")


def _verified(one: Finding) -> bool:
    proposal = one.document.get("proposal")
    return bool(proposal and proposal["verified"] and proposal["patch"])


def _title(new: Sequence[Finding]) -> str:
    more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
    return f"{new[0].title}{more}"


def _joined(mended: Sequence[Finding]) -> tuple[list[str], str]:
    """The patches that can be applied together: the worst finding's first, then those that touch
    none of its files."""
    chosen: list[str] = []
    whole = ""
    for one in mended:
        patch = str(one.document["proposal"]["patch"])
        if patch in whole or not patch_conflicts(whole, patch):
            whole += "" if patch in whole else patch
            chosen.append(one.slug)
    return chosen, whole


def _body(facts: Facts, new: Sequence[Finding], gone: set[str]) -> str:
    campaign = facts.campaign
    lines = [
        f"Campaign of {campaign.night}: {headline(facts)}.", "",
        f"Linux {text(campaign.kernel)}, wardian {campaign.wardian}, policy "
        f"`{campaign.policy_digest[:19]}`.", "",
    ]  # fmt: skip
    for one in new:
        lines += finding_lines(one)
        proposal = one.document.get("proposal")
        if proposal and proposal["patch"]:
            verdict = (
                "verified on the failing cases" if proposal["verified"] else "does not fix them all"
            )
            lines += [f"{text(proposal['title'], 600)} ({verdict}):", ""]
            lines += block(str(proposal["patch"])[:4000], "diff")
    if gone:
        lines += [f"No longer found: {', '.join(sorted(gone))}.", ""]
    body = "\n".join(lines).replace("](evidence/", "](./evidence/")
    return body if len(body) <= MAX_BODY else body[:MAX_BODY] + "\n\n… shortened.\n"
