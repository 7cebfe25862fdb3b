"""One module per figure. Each has ``measure(field, sizes, progress)`` and returns its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.contestants import Contestant, Workshop
from benchmarks.measuring import Spread

TRUE = ("/bin/true",)


class Field(NamedTuple):
    """Who takes part, by name, bare first; and the directories that all of them share."""

    contestants: Mapping[str, Contestant]
    workshop: Workshop

    def only(self, names: Sequence[str]) -> dict[str, Contestant]:
        """Those of the names that take part."""
        return {name: self.contestants[name] for name in names if name in self.contestants}


class Sizes(NamedTuple):
    """How much is measured."""

    starts: int = 200  # rounds of /bin/true
    rounds: int = 15  # of everything that takes longer
    loop: int = 2000  # programs that the shell starts
    crowd: int = 200  # sandboxes at once
    burst: int = 64  # runs per round, eight at a time
    ballast_mb: int = 2000
    budget_s: float = 6.0  # per contestant and figure


QUICK = Sizes(starts=15, rounds=3, loop=200, crowd=20, burst=16, ballast_mb=500, budget_s=1.5)

Numbers = dict[str, Spread]
