"""Names and times as people read them. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from wardian.measure.store.model import Campaign

# What a target is called in a heading, where its name alone would mislead.
_LABELS = {
    "bubblewrap": "bubblewrap + wardian's filter",
    "bubblewrap-stock": "stock bubblewrap",
    "gvisor": "gVisor",
    "host": "host, no sandbox",
}
MOST_TICKS = 5


def label(sandbox: str) -> str:
    """``bubblewrap`` is measured with wardian's syscall filter, and is called so."""
    return _LABELS.get(sandbox, sandbox)


def when(campaign: Campaign) -> str:
    """``2026-01-31 02:30``; where it stands for another night than it ran in, both."""
    date, time = campaign.started[:10], campaign.started[11:16]
    if date == campaign.night or not time:
        return f"{campaign.night} {time}".strip()
    return f"{campaign.night} (measured {date} {time})"


def took(campaign: Campaign) -> str:
    """``3 min 20 s``; empty while it runs."""
    try:
        begun, ended = map(datetime.datetime.fromisoformat, (campaign.started, campaign.ended))
    except ValueError:
        return ""
    return lasting((ended - begun).total_seconds())


def lasting(seconds: float) -> str:
    """``250 ms``, ``4.2 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


class Tick(NamedTuple):
    """A place on the axis of a timeline, in percent of its length."""

    place: float
    text: str


def ticks(campaigns: Sequence[Campaign]) -> list[Tick]:
    """Some campaigns, evenly spread, the first and the last among them. Each campaign is as wide
    as any other, so the place is that of its middle."""
    count = len(campaigns)
    parts = min(MOST_TICKS, count) - 1
    places = sorted({round(part * (count - 1) / parts) for part in range(parts + 1)} if parts else
                    {0})  # fmt: skip
    return [Tick((at + 0.5) * 100 / count, _short(campaigns[at])) for at in places]


def _short(campaign: Campaign) -> str:
    """Month, day and time; the day alone where it ran on another one."""
    same = campaign.started[:10] == campaign.night
    return f"{campaign.night[5:]} {campaign.started[11:16] if same else ''}".strip()
