"""learning.toml as values."""

from __future__ import annotations

import functools
import os
import tomllib
from typing import NamedTuple


class Headroom(NamedTuple):
    """How a peak becomes a limit."""

    factor: float
    least: int
    step: int


class Learning(NamedTuple):
    """See learning.toml, which has a comment on each."""

    kept_calls: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    kept_places: tuple[str, ...]
    wide: tuple[str, ...]
    most: int
    most_files: int
    rooms: dict[str, Headroom]


@functools.cache
def learning() -> Learning:
    """The shipped file."""
    with open(os.path.join(os.path.dirname(__file__), "learning.toml"), "rb") as file:
        raw = tomllib.load(file)
    places = raw["places"]
    return Learning(
        kept_calls=tuple(raw["calls"]["kept"]),
        alike=tuple(tuple(names) for names in raw["calls"]["alike"]),
        kept_places=tuple(places["kept"]),
        wide=tuple(places["wide"]),
        most=places["most"],
        most_files=places["most_files"],
        rooms={field: Headroom(**room) for field, room in raw["limits"].items()},
    )
