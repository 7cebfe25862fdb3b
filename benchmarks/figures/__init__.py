"""One module per figure. Each has ``measure(field, sizes, progress)`` and returns its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.contestants import Contestant, Workshop
from benchmarks.measuring import Spread

TRUE = ("/bin/true",)


class Field(NamedTuple):
    """Who takes part, by name, bare first; how each is made; and the directories of this run."""

    contestants: Mapping[str, Contestant]
    makers: Mapping[str, Callable[[Workshop], Contestant]]
    workshop: Workshop

    def equipped(self, tools: str) -> dict[str, Contestant]:
        """The same contestants, whose guests are given a directory with programs besides."""
        workshop = self.workshop._replace(tools=tools)
        return {name: self.makers[name](workshop) for name in self.contestants}

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
    work_s: float = 5.0  # of all contestants, for one of several works of a figure
    install_s: float = 6.0  # the same, for packages


QUICK = Sizes(starts=15, rounds=3, loop=200, crowd=20, burst=16, ballast_mb=500, budget_s=1.5)

Numbers = dict[str, Spread]
