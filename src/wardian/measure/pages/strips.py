"""Cases over campaigns: stretches of the same status, drawn as SVG; and trend lines. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from markupsafe import Markup

from wardian.measure.case import Identity
from wardian.measure.outcome import Status, status
from wardian.measure.pages.facts import Facts, ordered
from wardian.measure.pages.labels import label, when
from wardian.measure.store.model import Campaign
from wardian.text import printable

HEIGHT = 10
WIDTH, TALL, MARGIN = 320, 52, 4


class Stretch(NamedTuple):
    """Consecutive campaigns with the same status, from the one at ``start``."""

    start: int
    length: int
    status: str | None


def stretches(statuses: Sequence[str | None]) -> list[Stretch]:
    """The statuses, run by run."""
    found, at = [], 0
    for name, run in groupby(statuses):
        length = len(list(run))
        found.append(Stretch(at, length, name))
        at += length
    return found


_STRIP = Markup(
    '<svg class="strip" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
    'aria-label="{}">{}</svg>'
)
_STRETCH = Markup('<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>')
_TREND = Markup(
    '<svg class="trend" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
    'aria-label="{}"><path d="{}" fill="none"/><path d="{}" class="dot"/></svg>'
)


def strip(statuses: Sequence[str | None], title: str) -> Markup:
    """One line of coloured stretches; unexpected ones are taller, to be seen without colour."""
    parts = []
    for one in stretches(statuses):
        if one.status is not None:
            tone = status(one.status).tone
            top, height = (0, HEIGHT) if tone in ("bad", "lost") else (2, HEIGHT - 4)
            parts.append(_STRETCH.format(one.start, top, one.length, height, tone))
    return _STRIP.format(max(len(statuses), 1), HEIGHT, printable(title), Markup("").join(parts))


def trend(values: Sequence[float | None], title: str, *, least: float, most: float) -> Markup:
    """A line over campaigns, with its last value marked; gaps stay gaps."""
    span = (most - least) or 1
    step = (WIDTH - 2 * MARGIN) / max(len(values) - 1, 1)
    inner = TALL - 2 * MARGIN

    def place(index: int, value: float) -> tuple[float, float]:
        return MARGIN + index * step, MARGIN + inner * (1 - (value - least) / span)

    path, pen = [], "M"
    last = None
    for index, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        last = place(index, value)
        path.append(f"{pen}{last[0]:.1f} {last[1]:.1f}")
        pen = "L"
    dot = f"M{last[0]:.1f} {last[1]:.1f}h.01" if last else ""
    return _TREND.format(WIDTH, TALL, printable(title), " ".join(path), dot)


# Timelines


class CaseStrip(NamedTuple):
    """One case over all campaigns."""

    sandbox: str
    sign: Status
    since: Campaign | None
    flips: int
    latest: int  # where its latest flip is
    strip: Markup


class Story(NamedTuple):
    """A case over all campaigns, in the sandboxes in which it changed; in ``same`` others it never
    did. ``title`` is its sentence, empty if it has none."""

    name: str
    title: str
    words: str
    lines: tuple[CaseStrip, ...]
    same: int = 0

    @property
    def latest(self) -> int:
        """Where the latest flip is; 0 if there is none."""
        return max(one.latest for one in self.lines)


def stories(facts: Facts) -> list[Story]:
    """Every case whose status ever changed, the latest change first."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for kind, name, sandbox in facts.followed:
        places[kind, name].append(sandbox)
    titles = {one.case.name: str(one.case.about.get("title", "")) for one in facts.of("probe")}
    found = []
    for kind, name in sorted({one[:2] for one in facts.changed_ever}):
        every = ordered(places[kind, name])
        changed = [one for one in every if (kind, name, one) in facts.changed_ever]
        lines = tuple(_line(facts, (kind, name, one)) for one in changed)
        words = f"{name} {titles.get(name, '')} {kind} {' '.join(changed)}".lower()
        found.append(Story(name, titles.get(name, ""), words, lines, len(every) - len(changed)))
    return sorted(found, key=lambda one: (-one.latest, one.name))


def flips(known: Sequence[Stretch]) -> list[int]:
    """Where the status became another; what was not asked in between is no flip."""
    return [b.start for a, b in pairwise(known) if a.status != b.status]


def _line(facts: Facts, identity: Identity) -> CaseStrip:
    _, name, sandbox = identity
    line = facts.lines[identity]
    known = [one for one in stretches(line) if one.status is not None]
    flipped = flips(known)
    parts = [f"{status(one.status).word} from {when(facts.campaigns[one.start])}" for one in known]
    drawn = strip(line, f"{name} in {label(sandbox)}: {', '.join(parts[-4:])}")
    latest = flipped[-1] if flipped else 0
    return CaseStrip(sandbox, status(line[-1]), facts.since(identity), len(flipped), latest, drawn)
