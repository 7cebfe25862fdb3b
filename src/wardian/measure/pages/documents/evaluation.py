"""EVALUATION_YYYY-MM-DD.md: the report of a campaign; short if nothing changed. Pure."""

from __future__ import annotations

from collections import Counter

from wardian.measure.campaign.units import OURS
from wardian.measure.history.changes import of_campaigns
from wardian.measure.history.timeline import number as plain
from wardian.measure.pages.documents.markdown import (
    SIGNS,
    block,
    code,
    number,
    score,
    several,
    table,
    text,
)
from wardian.measure.pages.documents.matrices import NO_SPECIMEN, skill_rows
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.labels import label
from wardian.measure.pages.scores import Score, scores
from wardian.measure.store.model import Finding

NIGHTS_SHOWN = 10
CHANGES_SHOWN = 60
KINDS = ("probe", "check", "suite", "skill")
GROUPS_TITLE = "Coverage by group of system calls"


def page(facts: Facts) -> str:
    """The whole document."""
    lines = [
        f"# Evaluation, {facts.campaign.night}", "",
        *_summary(facts), *_changed(facts), *_timeline(facts),
    ]  # fmt: skip
    if facts.comparison.unchanged and not facts.findings:
        lines += ["Nothing changed, and there are no findings.", "", *_documents()]
        return "\n".join(lines)
    lines += [
        *_coverage(facts), *_interpreters(facts), *_skills(facts),
        *_gaps(facts), *_recommendations(facts), *_next(facts), *_documents(),
    ]  # fmt: skip
    return "\n".join(lines)


def headline(facts: Facts) -> str:
    """The campaign in one sentence."""
    comparison, findings = facts.comparison, facts.findings
    if facts.campaign.state == "partial":
        return "partly measured: the budget was spent"
    since = comparison.stable_since
    if comparison.last is None:
        stable = "first campaign"
    elif comparison.unchanged and since is not None:
        stable = f"stable since {since.night}, {several(comparison.nights, 'campaign')}"
    else:
        flips = comparison.of("regressed", "recovered", "flipped")
        rest = [f"{len(comparison.of(kind))} {kind}" for kind in ("appeared", "vanished")
                if comparison.of(kind)]  # fmt: skip
        stable = ", ".join([f"{len(flips)} flipped", *rest])
    worst = findings[0].severity if findings else ""
    return f"{stable}; {several(len(findings), 'finding')}" + (f", worst {worst}" if worst else "")


def _summary(facts: Facts) -> list[str]:
    campaign = facts.campaign
    measured = facts.figure("campaign.measured")
    reused = facts.figure("campaign.reused")
    lines = [
        f"**{headline(facts)[:1].upper()}{headline(facts)[1:]}.**", "",
        f"Linux {text(campaign.kernel)} on {campaign.machine}, wardian {campaign.wardian}, policy "
        f"{code(campaign.policy_digest[:19])}; [{plain(measured)}](evaluation.json) results "
        f"measured, [{plain(reused)}](evaluation.json) reused because nothing they depend on "
        f"changed, in {facts.figure('campaign.seconds'):.0f} s.", "",
    ]  # fmt: skip
    lines += _figures(facts)
    rows = []
    for kind in KINDS:
        for sandbox in facts.sandboxes:
            ones = facts.of(kind, sandbox)
            counts = Counter(one.health for one in ones)
            if ones:
                cells = [number(counts[health], kind, sandbox, health) for health in SIGNS]
                rows.append((kind, sandbox, number(len(ones), kind, sandbox), *cells))
    head = ("kind", "sandbox", "cases", *(f"{sign} {health}" for health, sign in SIGNS.items()))
    lines += table(head, rows)
    if facts.flaky:
        names = ", ".join(f"{code(one.case.name)} in {one.case.sandbox}"
                          for one in facts.flaky[:10])  # fmt: skip
        lines.append(f"- {several(len(facts.flaky), 'case')} passed only at the second try: "
                     f"{names}.")  # fmt: skip
    for step in facts.steps:
        note = step.document.get("note") if isinstance(step.document, dict) else None
        if step.state == "partial":
            lines.append(f"- {step.name}: {step.total - step.done} of {step.total} were not "
                         "measured within the budget; they come first next time.")  # fmt: skip
        elif note:
            lines.append(f"- {step.name}: {text(str(note))}.")
    return [*lines, ""]


def _figures(facts: Facts) -> list[str]:
    """The two figures of each sandbox, as the report's overview has them."""
    rows = [
        (label(one.sandbox), _figure(one.stopped, "CAPABILITIES.md"),
         _figure(one.programs, "CAPABILITIES.md"),
         _figure(one.skills, "SKILLS_COMPATIBILITY_MATRIX.md"))
        for one in scores(facts)
    ]  # fmt: skip
    head = ("sandbox", "attacks stopped", "programs that work", "cases of skills that pass")
    return table(head, rows) if rows else []


def _figure(score: Score, where: str) -> str:
    return f"[{score.good} of {score.asked}]({where})" if score.asked else ""


def _changed(facts: Facts) -> list[str]:
    comparison = facts.comparison
    lines = ["## What changed", ""]
    if comparison.last is None:
        return [*lines, "This is the first campaign: there is nothing to compare with.", ""]
    between = "; ".join(str(one) for one in of_campaigns(comparison.last, facts.campaign))
    changes = f" Changes since: {text(between, 2000)}." if between else ""
    lines += [f"Compared with {comparison.last.night} ({comparison.last.uid[:8]}).{changes}", ""]
    if not comparison.differences:
        since = comparison.stable_since
        stable = f" Stable since {since.night}." if since is not None else ""
        return [*lines, f"Nothing.{stable}", ""]
    shown = [
        one for one in comparison.differences
        if one.kind in ("regressed", "recovered", "flipped", "vanished")
    ]  # fmt: skip
    rows = []
    for one in shown[:CHANGES_SHOWN]:
        before = one.before.status if one.before is not None else "not measured"
        after = one.after.status if one.after is not None else "not measured"
        why = "; ".join(str(change) for change in one.changes)
        if one.unexplained:
            why = "flaky: nothing it depends on changed"
        rows.append((one.kind, one.case.kind, code(one.case.name), one.case.sandbox,
                     f"{before} → {after}", text(why)))  # fmt: skip
    if rows:
        lines += table(("", "kind", "case", "sandbox", "status", "what changed"), rows)
    if len(shown) > CHANGES_SHOWN:
        lines.append(f"… and {len(shown) - CHANGES_SHOWN} more, in evaluation.json.")
    appeared = comparison.of("appeared")
    if appeared:
        lines.append(f"{several(len(appeared), 'case')} measured for the first time.")
    return [*lines, ""]


def _timeline(facts: Facts) -> list[str]:
    """Figures of our own sandbox over the last campaigns."""
    columns = [("probe.good", "probes as expected"), ("probe.bad", "not"), ("check.good", "checks"),
               ("skills.working", "skills working"), ("suite.good", "suite cases")]  # fmt: skip
    history = facts.history[-NIGHTS_SHOWN:]
    used = [(name, title) for name, title in columns if any(name in f for _, f in history)]
    rows = []
    before: dict[str, float] = {}
    for campaign, figures in history:
        values = {name: figures[name] for name, _ in used if name in figures}
        same = "first" if not before else "stable" if values == before else "changed"
        cells = [plain(values[name]) if name in values else "" for name, _ in used]
        mark = "**" if campaign.id == facts.campaign.id else ""
        rows.append((f"{mark}{campaign.night}{mark}", *cells, same, f"`{campaign.uid[:8]}`"))
        before = values
    head = ("night", *(title for _, title in used), "", "campaign")
    return [f"## Stability, in {OURS}", "", *table(head, rows)]


def _coverage(facts: Facts) -> list[str]:
    lines = [f"## {GROUPS_TITLE}", ""]
    found = facts.matrix
    if not found.sandboxes:
        return [*lines, NO_SPECIMEN, ""]
    rows = []
    for name, by_sandbox in [("all", {}), *found.by_group().items()]:
        counts = by_sandbox or {sandbox: found.counts(sandbox) for sandbox in found.sandboxes}
        cells = []
        for sandbox in found.sandboxes:
            own = counts[sandbox]
            asked = sum(own.values()) - own["unmeasured"]
            rest = ", ".join(f"{own[s]} {s}" for s in ("partial", "denied", "missing") if own[s])
            linked = f"[{own['supported']} of {asked}](SYSCALL_ANALYSIS.md)"
            cells.append(f"{linked}{f', {rest}' if rest else ''}" if asked else "")
        total = sum(next(iter(counts.values())).values())
        rows.append((name, f"[{total}](SYSCALL_ANALYSIS.md)", *cells))
    note = "Calls that are fully supported, of those that were measured."
    return [*lines, note, "", *table(("group", "calls", *found.sandboxes), rows)]


def _interpreters(facts: Facts) -> list[str]:
    lines = ["## Interpreters", ""]
    languages = sorted({str(one.case.about.get("language", "")) for one in facts.of("skill")})
    rows = []
    for language in filter(None, languages):
        version = facts.campaign.versions.get(f"interpreter:{language}", "")
        cells = []
        for sandbox in facts.sandboxes:
            ones = [
                one
                for one in facts.of("skill", sandbox)
                if one.case.about.get("language") == language
            ]
            cells.append(score(ones, sandbox))
        rows.append((language, text(version), *cells))
    if not rows:
        return [*lines, "No skill's case was measured.", ""]
    return [*lines, *table(("language", "version", *map(label, facts.sandboxes)), rows)]


def _skills(facts: Facts) -> list[str]:
    lines = ["## Skills", ""]
    if not facts.skills:
        return [*lines, "There are no skills to measure.", ""]
    head, rows = skill_rows(facts)
    return [*lines, "[All cases](SKILLS_COMPATIBILITY_MATRIX.md).", "", *table(head, rows)]


def _gaps(facts: Facts) -> list[str]:
    lines = ["## Gaps", ""]
    if not facts.findings:
        return [*lines, "None: every result is as expected.", ""]
    for one in facts.findings:
        lines += finding_lines(one)
    return lines


def finding_lines(one: Finding) -> list[str]:
    """A finding with its evidence."""
    document = one.document
    lines = [f"### {one.severity}: {text(one.title)}", "", text(one.cause, 800), ""]
    if document.get("needed_by"):
        lines.append(f"- needed by: {', '.join(map(text, document['needed_by']))}")
    if document.get("since"):
        lines.append(f"- since {document['since']}")
    for case in document["cases"][:10]:
        where = f"evidence/{case['kind']}-{case['sandbox']}.md"
        named = f"[{case['kind']}]({where}) {code(case['name'])} in {case['sandbox']}"
        lines.append(f"- {named}: {case['status']} {text(case.get('cause') or '', 200)}".rstrip())
    left = document["count"] - 10
    lines += [f"- … and {left} more"] if left > 0 else []
    return [*lines, ""]


def _recommendations(facts: Facts) -> list[str]:
    lines = ["## Recommendations", ""]
    proposed = [one for one in facts.findings if one.document.get("proposal")]
    if not proposed:
        why = "no change was found that mends what is wrong" if facts.findings else "none"
        return [*lines, f"{why[:1].upper()}{why[1:]}.", ""]
    for one in proposed:
        proposal = one.document["proposal"]
        tried = proposal["tried"]
        good = sum(entry["status"] in ("pass", "supported", "blocked_expected") for entry in tried)
        verdict = "verified" if proposal["verified"] else "**not** enough"
        lines += [
            f"### {text(one.title)}", "",
            f"{text(proposal['title'], 600)}: {verdict}, {good} of {len(tried)} failing cases pass "
            f"under it. [Patch](patches/{one.slug}.patch)", "",
            *block(proposal["patch"][:4000], "diff"),
        ]  # fmt: skip
    return lines


def _next(facts: Facts) -> list[str]:
    todo = []
    verified = [one for one in facts.findings
                if (one.document.get("proposal") or {}).get("verified")]  # fmt: skip
    rest = [one for one in facts.findings if one not in verified]
    if verified:
        names = ", ".join(f"[{one.slug}](patches/{one.slug}.patch)" for one in verified)
        todo.append(f"Review and apply the verified patches: {names}.")
    for one in rest[:5]:
        probe = next((c for c in one.document["cases"] if c["kind"] == "probe"), None)
        how = f" `wardian probe blame {probe['name']}` finds the wall." if probe else ""
        todo.append(f"Investigate: {text(one.title)}.{how}")
    lacking = [entry["name"] for entry in facts.skills if not entry["cases"]]
    if lacking:
        todo.append(f"Write cases for {several(len(lacking), 'skill')} without any: "
                    f"{', '.join(map(text, lacking[:10]))}.")  # fmt: skip
    if not todo:
        todo.append("Nothing.")
    return ["## Next steps", "", *(f"{n}. {one}" for n, one in enumerate(todo, 1)), ""]


def _documents() -> list[str]:
    return [
        "## Documents", "",
        "[System calls](SYSCALL_ANALYSIS.md) · [skills](SKILLS_COMPATIBILITY_MATRIX.md) · "
        "[capabilities](CAPABILITIES.md) · [everything as JSON](evaluation.json) · "
        "[decision](decision.json)", "",
    ]  # fmt: skip
