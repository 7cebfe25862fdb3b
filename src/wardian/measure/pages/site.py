"""Draws the pages and writes them: each is self-contained and replaces the old one atomically."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from wardian import __version__
from wardian.errors import InputError
from wardian.measure.outcome import TONES, status
from wardian.measure.pages import calls, labels, scores, strips, suites, views
from wardian.measure.pages.facts import Facts
from wardian.sandbox.paths.whole_files import write_whole
from wardian.text import printable

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
# page → its title in the navigation
PAGES = {
    "index": "Overview",
    "capabilities": "Capabilities",
    "syscalls": "System calls",
    "skills": "Skills",
    "suites": "Suites",
    "timeline": "Timeline",
}
MAX_SOURCE = 8000
LATEST = 6
FINDINGS = 5  # more are folded


class Page(NamedTuple):
    """A page that was written."""

    name: str
    path: str
    size: int


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals |= {"anchor": views.anchor, "sign": status, "proposal": views.proposal}
    made.filters |= {
        "percent": _percent,
        "seconds": labels.lasting,
        "label": labels.label,
        "when": labels.when,
        "count": _count,
    }
    return made


def draw(facts: Facts, name: str, *, live: bool = False) -> str:
    """One page as HTML. ``live``: a served page, which updates itself."""
    shown = _SHOWN[name](facts)
    common = {
        "page": name,
        "pages": PAGES,
        "tabs": [one for one in PAGES if one == name or has_content(facts, one)],
        "facts": facts,
        "campaign": facts.campaign,
        "tones": TONES,
        "style": Markup(_asset("page.css")),  # noqa: S704 - our own file
        "script": Markup(_asset("page.js")),  # noqa: S704
        "live": live,
        "version": __version__,
    }
    return _environment().get_template(f"{name}.html").render({**common, **shown})


def has_content(facts: Facts, name: str) -> bool:
    """Is there anything on this page? The others are written, and say what is missing, so that
    none of an earlier campaign stays; no tab leads there."""
    if name == "capabilities":
        return any(one.case.group != views.SYSCALL for one in facts.of("probe"))
    if name == "syscalls":
        return bool(facts.matrix.sandboxes)
    if name in ("skills", "suites"):
        return bool(facts.of(name.removesuffix("s")))
    return name != "timeline" or bool(facts.changed_ever)


def write(
    facts: Facts, directory: str, on_step: Callable[[int, int], None] = lambda done, total: None
) -> list[Page]:
    """All pages; ``on_step`` is called with how many of how many are written. Raises InputError if
    the directory can't be written."""
    pages: list[Page] = []
    try:
        for name in PAGES:
            pages.append(_write(facts, name, directory))
            on_step(len(pages), len(PAGES))
        return pages
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", path=directory) from None


def _write(facts: Facts, name: str, directory: str) -> Page:
    path = os.path.join(directory, f"{name}.html")
    data = draw(facts, name).encode()
    write_whole(path, data)
    return Page(name, path, len(data))


def _overview(facts: Facts) -> Mapping[str, Any]:
    new, gone = views.appeared(facts)
    changes = views.changes(facts)
    every = scores.scores(facts)
    roles = scores.Roles(facts)
    moved = [roles.moved(one.case, one.was.name, one.now.name) for one in changes]
    return {
        "scores": every,
        "holds": scores.leader(every, "stopped"),
        "runs": scores.leader(every, "working"),
        "changes": changes,
        "moved": moved,
        "worse": moved.count(-1),
        "better": moved.count(1),
        "took": labels.took(facts.campaign),
        "link_of": functools.partial(views.link_of, facts),
        "new": new,
        "gone": gone,
        "courses": [_course(facts, one) for one in scores.courses(facts)],
        "ticks": labels.ticks(facts.campaigns),
        "latest": strips.stories(facts)[:LATEST],
        "shown": FINDINGS,
    }


def _course(facts: Facts, one: scores.Course) -> Mapping[str, Any]:
    known = [share for share in one.shares if share is not None]
    least, most = min(known), max(known)
    what = "attacks stopped" if one.figure == "stopped" else "programs and skills that work"
    title = (
        f"{labels.label(one.sandbox)}: {what}, in {len(known)} campaigns between {least:.1%} "
        f"and {most:.1%}"
    )
    drawn = strips.trend(one.shares, title, least=least, most=most)
    return {"sandbox": one.sandbox, "what": what, "least": least, "most": most, "drawn": drawn}


def _capabilities(facts: Facts) -> Mapping[str, Any]:
    rows = views.capabilities(facts)
    roles = scores.Roles(facts)
    return {
        "rows": rows,
        "differing": [one for one in rows if one.differs],
        "alike": [one for one in rows if not one.differs],
        "groups": sorted({one.group for one in rows}),
        "is_attack": lambda row: any(
            roles.of("probe", cell.result.case.name) == scores.ATTACK
            for cells in row.cases for cell in cells if cell.result is not None
        ),
        "source": source,
    }  # fmt: skip


def _syscalls(facts: Facts) -> Mapping[str, Any]:
    entries = calls.entries(facts)
    return {
        "entries": entries,
        "groups": calls.groups(entries),
        "totals": calls.totals(entries, facts.sandboxes),
        "counted": calls.COUNTED,
        "source": source,
    }


def _skills(facts: Facts) -> Mapping[str, Any]:
    groups = views.skills(facts)
    rows = [row for one in groups for row in one.rows]
    return {
        "skills": groups,
        "rows": rows,
        "working": views.working(groups),
        "cases": views.totals(rows),
        "groups": [one.name for one in groups],
    }


def _suites(facts: Facts) -> Mapping[str, Any]:
    return {"programs": suites.programs(facts), "most": suites.MAX_CASES}


def _timeline(facts: Facts) -> Mapping[str, Any]:
    return {
        "stories": strips.stories(facts),
        "same": len(facts.followed) - len(facts.changed_ever),
        "ticks": labels.ticks(facts.campaigns),
    }


_SHOWN = {
    "index": _overview,
    "capabilities": _capabilities,
    "syscalls": _syscalls,
    "skills": _skills,
    "suites": _suites,
    "timeline": _timeline,
}


@functools.cache
def _sources() -> Mapping[str, str]:
    from wardian.measure.probes.specimen import find_specimens, probes_dir

    return {one.id: one.source for one in find_specimens(probes_dir())}


def source(name: str) -> str:
    """The text of a specimen, empty if it is no longer there."""
    path = _sources().get(name)
    if path is None:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_SOURCE)


@functools.cache
def _asset(name: str) -> str:
    with open(os.path.join(TEMPLATES, name), encoding="utf-8") as file:
        return file.read()


def _percent(part: float, whole: float) -> str:
    """100 % only if it is all of them."""
    if not whole:
        return "–"
    if part == whole:
        return "100 %"
    return f"{min(part / whole * 100, 99.9):.1f} %"


def _count(number: int, word: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _shown(value: object) -> object:
    """Text with its control characters made visible, whoever wrote it."""
    if type(value) is not str or value.isprintable():
        return value
    return "\n".join(printable(line) for line in value.expandtabs(4).split("\n"))
