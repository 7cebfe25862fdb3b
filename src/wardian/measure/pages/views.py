"""What is shown of cases: rows, totals, changes. Pure: the HTML and the Markdown show the same."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wardian.measure.case import Case, Identity
from wardian.measure.outcome import TONES, Status, status
from wardian.measure.pages.facts import Facts
from wardian.measure.store.model import Campaign, Finding, Measurement
from wardian.measure.target import HOST

SYSCALL = "syscall"
MAX_CHANGES = 200
_CLEAN = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def anchor(text: str) -> str:
    """A name for a place in a page; different texts have different ones."""
    if _CLEAN.fullmatch(text):
        return text
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return f"{plain[:60]}-{zlib.crc32(text.encode()):08x}"


class CaseCell(NamedTuple):
    """The outcome of a case in one sandbox, as a table shows it."""

    sandbox: str
    sign: Status
    result: Measurement | None
    since: Campaign | None


class CaseRow(NamedTuple):
    """A capability, or a case, in every sandbox; ``words`` is what a search looks through."""

    name: str
    title: str
    group: str
    anchor: str
    cells: tuple[CaseCell, ...]
    about: Mapping[str, Any]
    words: str
    cases: tuple[tuple[CaseCell, ...], ...] = ()

    @property
    def worst(self) -> Status:
        """The least good of its outcomes."""
        return min((one.sign for one in self.cells), key=lambda one: one.order)

    @property
    def differs(self) -> bool:
        """Do sandboxes differ? The bare host counts only beside a single sandbox."""
        asked = [one for one in self.cells if one.result is not None]
        boxes = [one for one in asked if one.sandbox != HOST]
        return len({one.sign.tone for one in (boxes if len(boxes) > 1 else asked)}) > 1

    @property
    def heading(self) -> str:
        """The sentence that says what it is; its name where there is none."""
        return self.title or self.name


class PassCount(NamedTuple):
    """How many cases pass in one sandbox, of those that could be asked there."""

    good: int
    asked: int


def totals(rows: Sequence[CaseRow]) -> list[PassCount]:
    """Over these rows, for each sandbox."""
    columns = zip(*(one.cells for one in rows), strict=True) if rows else ()
    found = []
    for cells in columns:
        asked = [one for one in cells if one.result is not None and one.sign.health != "absent"]
        found.append(PassCount(sum(one.sign.health == "good" for one in asked), len(asked)))
    return found


class SkillGroup(NamedTuple):
    """A skill: its cases, and how many of them pass in each sandbox."""

    name: str
    rows: tuple[CaseRow, ...]
    totals: tuple[PassCount, ...]


def skills(facts: Facts) -> list[SkillGroup]:
    """By name."""
    groups: dict[str, list[CaseRow]] = defaultdict(list)
    for one in rows(facts, "skill", "name"):
        groups[one.group].append(one)
    return [SkillGroup(name, tuple(ones), tuple(totals(ones))) for name, ones in groups.items()]


def working(groups: Sequence[SkillGroup]) -> list[PassCount]:
    """For each sandbox: the skills all of whose cases pass there, of those that ran there."""
    columns = zip(*(one.totals for one in groups), strict=True) if groups else ()
    found = []
    for ones in columns:
        ran = [one for one in ones if one.asked]
        found.append(PassCount(sum(one.good == one.asked for one in ran), len(ran)))
    return found


class ChangeRow(NamedTuple):
    """A case that has another status than in the campaign before."""

    case: Case
    was: Status
    now: Status
    cause: str
    link: str


PAGES = {"probe": "capabilities", "check": "syscalls", "skill": "skills", "suite": "suites"}


def row_of(facts: Facts, name: str, cases: Sequence[Case]) -> CaseRow:
    """The cases of one capability as a row: the worst of them in each sandbox, then each."""
    by_name: dict[str, dict[str, Identity]] = defaultdict(dict)
    for one in cases:
        by_name[one.name][one.sandbox] = one.identity
    every = tuple(
        tuple(_cell(facts, places.get(sandbox), sandbox) for sandbox in facts.sandboxes)
        for places in by_name.values()
    )
    worst = tuple(
        min((line[place] for line in every), key=lambda one: one.sign.order)
        for place in range(len(facts.sandboxes))
    )
    first = cases[0]
    said = str(first.about.get("title", ""))
    words = " ".join((name, said, first.group, *(one.sign.word for one in worst)))
    return CaseRow(name, said, first.group, anchor(name), worst, first.about, words.lower(), every)


def _cell(facts: Facts, identity: Identity | None, sandbox: str) -> CaseCell:
    result = facts.known.get(identity) if identity else None
    if identity is None or result is None:
        return CaseCell(sandbox, status(None), None, None)
    return CaseCell(sandbox, status(result.status), result, facts.since(identity))


def rows(facts: Facts, kind: str, by: str) -> list[CaseRow]:
    """Rows of a kind, by ``capability`` or ``name``, in the same order in every report."""
    found: dict[str, list[Case]] = defaultdict(list)
    for one in facts.of(kind):
        found[getattr(one.case, by) or one.case.name].append(one.case)
    return sorted(
        (row_of(facts, name, cases) for name, cases in found.items()),
        key=lambda one: (one.group, one.name),
    )


def capabilities(facts: Facts) -> list[CaseRow]:
    """The rows of the matrix; system calls have a page of their own."""
    return [one for one in rows(facts, "probe", "capability") if one.group != SYSCALL]


# The overview


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by tone, as bars are drawn."""
    return {tone: counts[tone] for tone in TONES if counts.get(tone)}


def changes(facts: Facts) -> list[ChangeRow]:
    """Cases whose status changed, the worst first."""
    found = []
    for identity, now in facts.known.items():
        was = facts.before.get(identity)
        if was is None or was.status == now.status or now.case.kind == "trace":
            continue
        signs = status(was.status), status(now.status)
        found.append(ChangeRow(now.case, *signs, now.outcome.cause, place_of(now.case)))
    return sorted(found, key=lambda one: (one.now.order, one.case.name))[:MAX_CHANGES]


def place_of(case: Case) -> str:
    """The address of the evidence of a case."""
    page = "syscalls" if case.group == SYSCALL else PAGES[case.kind]
    return f"{page}.html#{anchor(case.capability or case.name)}"


def link_of(facts: Facts, kind: str, name: str, sandbox: str) -> str:
    """The address for a case that a finding names; the page of its kind if it has no evidence."""
    result = facts.known.get((kind, name, sandbox))
    if result is None or kind not in PAGES or kind == "suite":
        return f"{PAGES.get(kind, 'index')}.html"
    return place_of(result.case)


def appeared(facts: Facts) -> tuple[int, int]:
    """How many cases are new, and how many are gone, since the campaign before."""
    if facts.previous is None:
        return 0, 0
    new = sum(one not in facts.before for one in facts.known)
    return new, sum(one not in facts.known for one in facts.before)


def proposal(finding: Finding) -> Mapping[str, Any]:
    """The proposed change of a finding; empty if there is none."""
    found = finding.document.get("proposal")
    return found if isinstance(found, dict) else {}
