"""Parts of the host's /usr and /etc in place of the whole: which to mount, and which links lead
there. Looks at the host; decides nothing about who may have it, for all of it is in the usual base.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from wardian.errors import ShareError
from wardian.sandbox.root.shares import is_below

# Each is a mount, which takes about 15 µs at every start; the launcher takes 256 rules.
MOST = 200
MOST_LINKS = 40  # in one path, as the kernel has it


class Parts:
    """Gathers parts; ``links`` are to be made, and ``places`` to be mounted, by where they stand.

    ``trees`` (place → source) and ``linked`` (place → what it names) are the whole.
    """

    def __init__(self, trees: Mapping[str, str], linked: Mapping[str, str]) -> None:
        self.trees, self.linked = trees, linked
        self._links: dict[str, str] = {}
        self._places: dict[str, str] = {}

    def add(self, path: str) -> None:
        """One more part, with all links on the way. Raises ShareError."""
        at, links = self._walk(path)
        source = self._source(at) if at is not None else None
        if at is None or source is None:
            raise ShareError(
                path, "it is no part of the /usr and /etc that a run gets of this host"
            )
        if len(self._places) == MOST and at not in self._places:
            raise ShareError(path, f"a base can name at most {MOST} parts", hint="name directories")
        self._places[at] = source
        self._links |= links

    @property
    def places(self) -> dict[str, str]:
        """What is to be mounted; what lies in another is there already."""
        return {
            at: source
            for at, source in self._places.items()
            if not any(is_below(at, other) and at != other for other in self._places)
        }

    @property
    def links(self) -> dict[str, str]:
        """What is to be made; a link in what is mounted is there already."""
        places = self.places
        return {
            at: target
            for at, target in self._links.items()
            if not any(is_below(at, place) for place in places)
        }

    def real(self, path: str) -> str | None:
        """Where a path of the guest's leads, links followed; None if that is not in the whole."""
        at, _ = self._walk(path)
        return at if at is not None and self._source(at) is not None else None

    def way(self, path: str) -> list[str]:
        """The links on the way to where a path leads."""
        return list(self._walk(path)[1])

    def _walk(self, path: str) -> tuple[str | None, dict[str, str]]:
        left = path.split("/")
        at, seen = "", 0
        links: dict[str, str] = {}
        while left:
            name = left.pop(0)
            if name in ("", "."):
                continue
            if name == "..":
                at = os.path.dirname(at).rstrip("/")
                continue
            here = f"{at}/{name}"
            target = self._link(here)
            if target is None:
                if not self._is_there(here):
                    return None, links
                at = here
                continue
            seen += 1
            if seen > MOST_LINKS:
                return None, links
            links[here] = target
            left = target.split("/") + left
            at = "" if target.startswith("/") else at
        return at, links

    def _link(self, at: str) -> str | None:
        if at in self.linked:
            return self.linked[at]
        source = self._source(at)
        try:
            return os.readlink(source) if source is not None else None
        except OSError:
            return None

    def _is_there(self, at: str) -> bool:
        source = self._source(at)
        if source is not None:
            return os.path.lexists(source)
        return any(is_below(place, at) for place in (*self.trees, *self.linked))

    def _source(self, at: str) -> str | None:
        around = [place for place in self.trees if is_below(at, place)]
        if not around:
            return None
        tree = max(around, key=len)
        return self.trees[tree] + at[len(tree) :]
