"""What must be reached, and whether it was. Ratios only: both sides come from the same run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.contestants import FULL, Contestant
from benchmarks.figures import Field, packages, ready, suite
from benchmarks.figures.command import EXEC, NOTHING
from benchmarks.figures.seeing import (
    BARE,
    CREATES,
    GETPPIDS,
    IMPORTS,
    INSIDE,
    READS,
    REPORTED,
    STATS,
    STRACE,
    TRACE,
    UNREPORTED,
    added,
)
from benchmarks.results import Results


class Target(NamedTuple):
    """A figure, the bound it must keep, and which side of it is right."""

    what: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the value meets the bound, compared at two decimals."""
        value = round(self.value, 2)
        return value >= self.bound if self.at_least else value <= self.bound


def judge(results: Results, field: Field) -> list[Target]:
    """The targets whose figures were measured."""
    return [
        *_starts(results, field),
        *_imports(results),
        *_parents(results),
        *_inside(results),
        *_seeing(results),
        *_command(results),
        *_ready(results),
        *_many(results),
        *_suite(results),
        *_packages(results),
    ]


def _starts(results: Results, field: Field) -> Iterator[Target]:
    ours = results.start.get("wardian")
    theirs = results.start.get("bubblewrap")
    if ours is None:
        return
    if theirs is not None:
        ratio = ours.median / theirs.median
        yield Target("/bin/true from Python, of bubblewrap's time", ratio, 0.6)
    peers = [name for name, c in field.contestants.items() if _as_many_walls(c)]
    peers = [name for name in peers if name in results.start]
    if peers:
        fastest = min(peers, key=lambda name: results.start[name].median)
        ratio = ours.median / results.start[fastest].median
        yield Target(f"… of the fastest peer's with all namespaces ({fastest})", ratio, 1.0)


def _imports(results: Results) -> Iterator[Target]:
    ours, theirs = results.imports.get("wardian"), results.imports.get("bubblewrap")
    if ours is not None and theirs is not None:
        ratio = ours.median / theirs.median
        yield Target("`import json` from Python, of bubblewrap's time", ratio, 1.1)


def _as_many_walls(contestant: Contestant) -> bool:
    return not contestant.name.startswith("wardian") and set(FULL) <= set(contestant.walls)


def _parents(results: Results) -> Iterator[Target]:
    sizes = list(results.parents)
    if len(sizes) == 2 and all("wardian" in results.parents[size] for size in sizes):
        small, large = (results.parents[size]["wardian"].median for size in sizes)
        yield Target(f"a parent of {sizes[1]}, of one of {sizes[0]}", large / small, 1.2)


def _inside(results: Results) -> Iterator[Target]:
    for call, bound in (("getppid", 1.3), ("stat", 1.3), ("open and close", 1.6)):
        row = results.calls.get(call, {})
        if "wardian" in row and "bare" in row:
            ratio = row["wardian"].median / row["bare"].median
            yield Target(f"{call} inside, of the host's", ratio, bound)
    if "wardian" in results.loop and "bare" in results.loop:
        ratio = results.loop["wardian"].median / results.loop["bare"].median
        yield Target("a shell's loop of programs, of the host's", ratio, 1.15)


def _seeing(results: Results) -> Iterator[Target]:
    for work, bound in ((IMPORTS, 1.25), (STATS, 1.3), (CREATES, 2.0)):
        if work in results.refusals:
            row = results.refusals[work]
            ratio = row[REPORTED].median / row[UNREPORTED].median
            yield Target(f"{work} with refusals reported, relative to not reported", ratio, bound)
    for work in (GETPPIDS, READS, IMPORTS):
        row = results.trace.get(work, {})
        if STRACE in row and TRACE in row:
            ratio = added(row, TRACE, INSIDE) / added(row, STRACE, BARE)
            yield Target(f"{work}: the time that a trace adds, of strace's", ratio, 0.33)


def _suite(results: Results) -> Iterator[Target]:
    for work, row in results.suite.items():
        ratio = row[suite.ADAPTER].median / row[suite.BARE].median
        yield Target(f"{work} through the adapter, of the bare run", ratio, 1.3)


def _packages(results: Results) -> Iterator[Target]:
    for work, row in results.packages.items():
        tool = next(name for name in row if name != packages.WARDIAN)
        ratio = row[packages.WARDIAN].median / row[tool].median
        yield Target(f"{work}, of {tool}'s time", ratio, 1.5)


def _command(results: Results) -> Iterator[Target]:
    if EXEC in results.command:
        ratio = results.command[EXEC].median / results.command[NOTHING].median
        yield Target(f"`{EXEC}`, of `{NOTHING}`", ratio, 4.0)


def _ready(results: Results) -> Iterator[Target]:
    for row, ours, what, bound in (
        (results.living, ready.LIVING, "one more command of a living sandbox", 1.5),
        (results.pool, ready.POOL, "/bin/true out of a pool", 1.7),
    ):
        if ours in row:
            ratio = row[ours].median / row[ready.BARE].median
            yield Target(f"{what}, of a bare subprocess.run", ratio, bound)
    for work, bound in ((ready.HELLO, 0.35), (ready.NUMPY, 0.1)):
        if work in results.warm:
            row = results.warm[work]
            ratio = row[ready.WARM].median / row[ready.NEW].median
            yield Target(f"a warm Python, {work}, of a new one outside", ratio, bound)
    idle = results.living_idle.get(ready.LIVING)
    if idle is not None and idle.pss_kb is not None:
        yield Target("kB of memory per idle living sandbox", idle.pss_kb.median, 400)


def _many(results: Results) -> Iterator[Target]:
    idle = results.idle.get("wardian")
    if idle is not None and idle.pss_kb is not None:
        yield Target("kB of memory per idle sandbox", idle.pss_kb.median, 400)
    if results.crowd:
        asked = results.crowd["asked"]
        yield Target(f"{asked:.0f} at once, all right", results.crowd["right"], asked, True)
    if "wardian" in results.rate and "bubblewrap" in results.rate:
        ratio = results.rate["wardian"].median / results.rate["bubblewrap"].median
        yield Target("runs per second eight at a time, of bubblewrap's", ratio, 2.0, True)
