"""Select cases by globs and by shard. Pure."""

from __future__ import annotations

import re
import zlib
from fnmatch import fnmatchcase
from typing import NamedTuple

from wardian.errors import UsageError


class Selection(NamedTuple):
    """A glob is matched against the case, the program, and ``PROGRAM:CASE``."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    shard: int = 1
    shards: int = 1

    def wants(self, program: str, case: str) -> bool:
        """Every case is in exactly one shard, whatever else the suite holds."""
        names = (case, program, f"{program}:{case}")
        if self.only and not _match(self.only, names):
            return False
        if _match(self.without, names):
            return False
        place = zlib.crc32(f"{program}:{case}".encode("utf-8", "surrogateescape"))
        return place % self.shards == self.shard - 1

    @property
    def all(self) -> bool:
        """Nothing is left out."""
        return not self.only and not self.without and self.shards == 1


def _match(globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


def parse_shard(text: str) -> tuple[int, int]:
    """``2/5`` is the second of five. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard: {text!r} is not I/N with I from 1 to N")
    return int(found[1]), int(found[2])
