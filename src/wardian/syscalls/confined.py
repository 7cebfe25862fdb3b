"""What a guest without namespaces is decided about otherwise than the table says: confined.tsv.

Numbers there: socket types 1 (stream) and 5 (seqpacket), fcntl 8 and 15 (F_SETOWN, F_SETOWN_EX),
ioctl 0x8901 and 0x8902 (FIOSETOWN, SIOCSPGRP), open flags 0o1000 (O_TRUNC) and 3 (O_ACCMODE).
"""

from __future__ import annotations

import functools
import os

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

FILE = os.path.join(os.path.dirname(__file__), "confined.tsv")
AS_IN_TABLE = "-"


class Confinement(NamedTuple):
    """``otherwise``: decisions that overrule the table's. ``acted``: calls that the supervisor
    carries out itself (core/deputy.c)."""

    otherwise: Mapping[str, str]
    acted: frozenset[str]


def confinement(*, network: bool, landlock_abi: int, ordinary_user: bool) -> Confinement:
    """For a guest with the host's ``network`` or none, on a kernel with that Landlock, started by
    an ordinary user or by root."""
    holds = {
        "always": True,
        "no network": not network,
        "host network": network,
        "abi < 3": landlock_abi < 3,
        "abi < 6": landlock_abi < 6,
        "ordinary user": ordinary_user,
    }
    found = [row for row in _rows() if holds[row[1]]]
    return Confinement(
        {name: decision for name, _, decision, _, _ in found if decision != AS_IN_TABLE},
        frozenset(name for name, _, _, by, _ in found if by == "supervisor"),
    )


@functools.cache
def _rows() -> tuple[tuple[str, ...], ...]:
    with open(FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    return tuple(tuple(line.split("\t")) for line in lines)
