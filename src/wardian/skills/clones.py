"""The clone that a path lies in: how far a link, a manifest or a plugin in it may lead."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterator

PLUGIN_FOLDER = ".claude-plugin"
# Claude Code unpacks each installed plugin three levels below this folder of the home.
PLUGIN_CACHE = ".claude/plugins/cache"
CACHE_LEVELS = 3


def clone_top(path: str, home: str | None = None) -> str | None:
    """The top of the git checkout, or the installed plugin, that holds a real path; None if there
    is none. Never the home, what is above it, or the root of the file system."""
    home = os.path.realpath(home or os.path.expanduser("~"))
    cache = os.path.join(home, PLUGIN_CACHE)
    if path.startswith(cache + "/"):
        names = path[len(cache) + 1 :].split("/")
        return "/".join((cache, *names[:CACHE_LEVELS])) if len(names) >= CACHE_LEVELS else None
    for place in at_and_above(path):
        if place in ("/", home) or home.startswith(place + "/"):
            return None
        if os.path.lexists(f"{place}/.git"):
            return place
    return None


def at_and_above(path: str) -> Iterator[str]:
    """A path and its parents, the nearest first, the root last."""
    while path != "/":
        yield path
        path = os.path.dirname(path)
    yield path
