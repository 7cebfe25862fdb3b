"""The pages, drawn and written: each is self-contained, and replaces the old one in one step."""

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
from wardian.measure.pages import calls, strips, suites, views
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
    made.filters |= {"percent": _percent, "seconds": _seconds}
    return made


def draw(facts: Facts, name: str, *, live: bool = False) -> str:
    """One page as HTML. ``live`` is for pages that are served: they follow the store."""
    shown = _SHOWN[name](facts)
    common = {
        "page": name,
        "pages": PAGES,
        "facts": facts,
        "campaign": facts.campaign,
        "tones": TONES,
        "style": Markup(_asset("page.css")),  # noqa: S704 - our own file
        "script": Markup(_asset("page.js")),  # noqa: S704
        "live": live,
        "version": __version__,
    }
    return _environment().get_template(f"{name}.html").render({**common, **shown})


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
    return {
        "health": views.health(facts),
        "changes": views.changes(facts),
        "told_at": functools.partial(views.told_at, facts),
        "new": new,
        "gone": gone,
        "latest": strips.stories(facts, stable=False)[:LATEST],
    }


def _capabilities(facts: Facts) -> Mapping[str, Any]:
    rows = views.capabilities(facts)
    return {"rows": rows, "groups": sorted({one.group for one in rows}), "source": source}


def _syscalls(facts: Facts) -> Mapping[str, Any]:
    entries = calls.entries(facts)
    return {
        "entries": entries,
        "groups": calls.groups(entries),
        "totals": calls.totals(entries, facts.sandboxes),
        "source": source,
    }


def _skills(facts: Facts) -> Mapping[str, Any]:
    rows = views.rows(facts, "skill", "name")
    return {"rows": rows, "groups": sorted({one.group for one in rows})}


def _suites(facts: Facts) -> Mapping[str, Any]:
    return {"programs": suites.programs(facts), "most": suites.MAX_CASES}


def _timeline(facts: Facts) -> Mapping[str, Any]:
    told = strips.stories(facts)
    return {
        "flipped": [one for one in told if one.latest],
        "stable": [one for one in told if not one.latest],
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
    """Never 100 % unless it is all of it."""
    if not whole:
        return "–"
    if part == whole:
        return "100 %"
    return f"{min(part / whole * 100, 99.9):.1f} %"


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def _shown(value: object) -> object:
    """Whatever text a guest or a program chose: without what a reader can't see."""
    if type(value) is not str or value.isprintable():
        return value
    return "\n".join(printable(line) for line in value.expandtabs(4).split("\n"))
