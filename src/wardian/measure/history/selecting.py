"""Finds the cases and figures of a store by name or glob, with their timelines."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from wardian.errors import NothingMatched
from wardian.measure.case import Case
from wardian.measure.history import timeline
from wardian.measure.history.timeline import Span
from wardian.measure.store.model import Campaign, Figure
from wardian.measure.store.reading import StoreReader

SCHEMA = "wardian.history/1"


class Series(NamedTuple):
    """A case or a figure over time. ``strip`` has a sign for each campaign; figures have none."""

    kind: str
    name: str
    sandbox: str
    capability: str
    spans: tuple[Span, ...]
    strip: str = ""

    @property
    def flips(self) -> int:
        """How often it changed."""
        return len(self.spans) - 1

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "kind": self.kind,
            "name": self.name,
            "sandbox": self.sandbox,
            "capability": self.capability,
            "flips": self.flips,
            "spans": [one.document() for one in self.spans],
        }


def lines(
    store: StoreReader,
    patterns: Sequence[str],
    *,
    sandboxes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    flipped: bool = False,
) -> list[Series]:
    """The timelines of what the patterns select: names of cases and figures, capabilities, globs.

    Raises NothingMatched for a pattern that selects nothing.
    """
    cases, figures = store.cases(), store.figures()
    every: list[Case | Figure] = [*cases, *figures]
    for pattern in patterns:
        if not any(_matches(one, pattern) for one in every):
            names = {one.name for one in every} | {one.capability for one in cases}
            raise NothingMatched(
                f"no case or figure is called {pattern!r}", hint=_near(pattern, names)
            )

    def wanted(one: Case | Figure) -> bool:
        kind = one.kind if isinstance(one, Case) else "figure"
        return (
            (not patterns or any(_matches(one, pattern) for pattern in patterns))
            and (not sandboxes or one.sandbox in sandboxes)
            and (not kinds or kind in kinds)
        )

    campaigns = {one.id: one for one in store.campaigns()}
    found = _of_cases(store, [one for one in cases if wanted(one)], campaigns)
    found += _of_figures([one for one in figures if wanted(one)], campaigns)
    found = [one for one in found if one.flips] if flipped else found
    if not found:
        raise NothingMatched("nothing flipped" if flipped else "nothing matches")
    return found


def _of_cases(
    store: StoreReader, cases: list[Case], campaigns: dict[int, Campaign]
) -> list[Series]:
    moments = store.timelines(case_ids=[one.id for one in cases] if len(cases) < 500 else ())
    chosen = [one for one in cases if one.id in moments]
    keys = [key for one in chosen for key in timeline.flipping(moments[one.id])]
    depends = store.dependencies(keys)
    return [
        Series(
            one.kind, one.name, one.sandbox, one.capability,
            tuple(timeline.spans(one, moments[one.id], campaigns, depends)),
            timeline.strip(moments[one.id]),
        )
        for one in chosen
    ]  # fmt: skip


def _of_figures(figures: list[Figure], campaigns: dict[int, Campaign]) -> list[Series]:
    by_name: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        by_name.setdefault((figure.name, figure.sandbox), []).append(figure)
    return [
        Series("figure", name, sandbox, "", tuple(timeline.figure_spans(ones, campaigns)))
        for (name, sandbox), ones in by_name.items()
    ]


def _matches(one: Case | Figure, pattern: str) -> bool:
    names = [one.name] if isinstance(one, Figure) else [one.name, one.capability]
    return any(fnmatchcase(name, pattern) for name in names if name)


def _near(pattern: str, names: set[str]) -> str:
    import difflib

    near = difflib.get_close_matches(pattern, sorted(names), 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else "names may contain * and ?"


def document(found: Sequence[Series]) -> dict[str, Any]:
    """The JSON document of ``wardian history NAME``."""
    return {"schema": SCHEMA, "timelines": [one.document() for one in found]}


def text(found: Sequence[Series]) -> list[str]:
    """Lines for people: the newest span first."""
    shown = []
    for one in found:
        where = f" in {one.sandbox}" if one.sandbox else ""
        shown.append(f"{one.name}  ({one.kind}{where})")
        for number, span in enumerate(reversed(one.spans)):
            shown.append(f"  {_span(span, now=number == 0)}")
            shown += [f"      after: {_after(span)}"] if number < one.flips else []
        shown += [f"  {one.strip}"] if one.strip else []
    return shown


def _span(span: Span, *, now: bool) -> str:
    nights = f"{span.count} campaign{'s' if span.count != 1 else ''}"
    when = f"since {span.first.night}" if now else f"{span.first.night} to {span.last.night}"
    return f"{span.value}  {when}, {nights}"


def _after(span: Span) -> str:
    if span.changes:
        return "; ".join(str(change) for change in span.changes)
    if span.unexplained:
        return "flaky: nothing it depends on changed"
    return "no known change"
