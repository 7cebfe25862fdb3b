"""From the system calls that runs made to those that stay allowed. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from wardian.learn.data import learning
from wardian.sandbox.policy.policy import Policy
from wardian.syscalls import groups, rows
from wardian.syscalls.table import find


class Calls(NamedTuple):
    """``made`` were seen; ``kept`` stay although they were not."""

    made: frozenset[str]
    kept: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.made | self.kept


def calls(made: Collection[str], policy: Policy) -> Calls:
    """Of what the runs' own policy lets pass, never more."""
    names = {name for name in made if passes(name, policy)}
    kept = set(learning().kept_calls)
    for alike in learning().alike:
        if not (names | kept).isdisjoint(alike):
            kept.update(alike)
    return Calls(frozenset(names), frozenset(n for n in kept if passes(n, policy)) - names)


def passes(name: str, policy: Policy) -> bool:
    """Does the policy allow the call, with some arguments at least?"""
    row = find(name)
    if row is None or name in policy.deny_syscalls:  # what is newer than the table is refused
        return False
    return name in policy.allow_syscalls or row.kind in ("allow", "when")


def counted(policy: Policy, arch: str) -> tuple[int, int]:
    """How many calls of this architecture the policy lets pass, and how many there are."""
    here = [row.name for row in rows() if row.number(arch) is not None]
    return sum(passes(name, policy) for name in here), len(here)


def by_group(names: Collection[str]) -> dict[str, list[str]]:
    """The names by the table's groups; a group of which none is there has an empty list."""
    return {
        group: sorted(row.name for row in members if row.name in names)
        for group, members in groups().items()
        if any(row.kind in ("allow", "when") for row in members)
    }
