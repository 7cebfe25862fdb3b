"""From the peaks of runs to limits with head-room. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from wardian.learn.data import learning
from wardian.sandbox.policy.policy import Limits


def limits(
    peaks: Mapping[str, float], allowed: Limits, times: Mapping[str, float] | None = None
) -> Limits:
    """Never above what was allowed; ``times`` widens single ones."""
    found: dict[str, float | None] = {}
    for field, room in learning().rooms.items():
        most = getattr(allowed, field)
        peak = peaks.get(field, 0) * room.factor
        wanted = max(room.least, math.ceil(peak / room.step) * room.step)
        wanted = math.ceil(wanted * (times or {}).get(field, 1))
        if field == "files" and most is not None:
            wanted = min(wanted, most // 2 if not (times or {}).get(field) else most)
        found[field] = wanted if most is None else min(wanted, most)
    return Limits(**found)  # type: ignore[arg-type]
