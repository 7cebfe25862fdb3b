"""The names in an archive: which are refused, alone or together. Pure; touches no file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from wardian.errors import SkillError

MAX_PATH_BYTES = 1024
MAX_PART_BYTES = 255
MAX_DEPTH = 24

# Characters that reorder or hide a name where people read it.
_HIDING = re.compile("[\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def checked(name: str) -> tuple[str, ...]:
    """The parts of a member's name, in order; raises SkillError if it is not a plain path."""
    problem = _problem(name)
    if problem is not None:
        raise SkillError(f"the archive holds {name!r}, {problem}")
    return tuple(part for part in name.split("/") if part not in ("", "."))


class Names:
    """The names seen so far: refuses one that would land on another, here or elsewhere."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], tuple[tuple[str, ...], bool]] = {}

    def add(self, parts: tuple[str, ...], *, folder: bool) -> None:
        """Record a member; raises SkillError on a duplicate, a collision or a conflict."""
        for length in range(1, len(parts)):
            self._place(parts[:length], folder=True)
        if parts:
            self._place(parts, folder=folder, member=True)

    def _place(self, parts: tuple[str, ...], *, folder: bool, member: bool = False) -> None:
        key = tuple(_folded(part) for part in parts)
        known = self._seen.get(key)
        if known is None:
            self._seen[key] = (parts, folder)
            return
        spelled, was_folder = known
        shown = "/".join(parts)
        if spelled != parts:
            other = "/".join(spelled)
            raise SkillError(
                f"the archive holds {other!r} and {shown!r}, one file "
                "where case or accents are ignored"
            )
        if folder != was_folder:
            raise SkillError(f"the archive holds {shown!r} both as a file and as a directory")
        if member and not folder:
            raise SkillError(f"the archive holds {shown!r} twice")


def _folded(part: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())


def _problem(name: str) -> str | None:
    for fails, problem in _WHOLE:
        if fails(name):
            return problem
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > MAX_DEPTH:
        return f"more than {MAX_DEPTH} folders deep"
    return next(filter(None, map(_part_problem, parts)), None)


_WHOLE: tuple[tuple[Callable[[str], object], str], ...] = (
    (lambda name: not name, "an empty name"),
    (lambda name: name.startswith("/"), "an absolute path"),
    (lambda name: "\\" in name, "a name with a backslash"),
    (re.compile(r"[A-Za-z]:").match, "a name with a drive letter"),
    (re.compile(r"[\x00-\x1f\x7f-\x9f]").search, "a name with control characters"),
    (re.compile("[\ud800-\udfff]").search, "a name that is not UTF-8"),
    (_HIDING.search, "a name with characters that hide or reorder text"),
    (lambda name: len(name.encode()) > MAX_PATH_BYTES, f"longer than {MAX_PATH_BYTES} bytes"),
)


def _part_problem(part: str) -> str | None:
    if part == "..":
        return "a path that climbs out with `..`"
    if len(part.encode("utf-8")) > MAX_PART_BYTES:
        return f"a name longer than {MAX_PART_BYTES} bytes"
    if part.endswith((" ", ".")) or part.startswith(" "):
        return "a name that starts or ends with a space, or ends with a dot"
    if _DEVICE.fullmatch(part):
        return "a name that is a device on Windows"
    return None
