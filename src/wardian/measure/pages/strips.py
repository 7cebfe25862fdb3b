"""Timelines and trend lines as SVG. Pure: values in, drawing out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from wardian.measure.pages.signs import sign
from wardian.text import printable

HEIGHT = 10
WIDTH, TALL, MARGIN = 320, 52, 4


class Stretch(NamedTuple):
    """So many campaigns in a row, from the one at ``start``, with the same status."""

    start: int
    length: int
    status: str | None


def stretches(statuses: Sequence[str | None]) -> list[Stretch]:
    """The same statuses, told by their changes."""
    found, at = [], 0
    for status, run in groupby(statuses):
        length = len(list(run))
        found.append(Stretch(at, length, status))
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
    """One line of coloured stretches; what is not as expected is taller: it shows in grey, too."""
    parts = []
    for one in stretches(statuses):
        if one.status is not None:
            tone = sign(one.status).tone
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
