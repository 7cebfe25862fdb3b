"""The clone that a path lies in: how far a link, a manifest or a plugin in it may lead; and what of
it is git's own."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterator

PLUGIN_FOLDER = ".claude-plugin"
# Claude Code unpacks each installed plugin three levels below this folder of the home.
PLUGIN_CACHE = ".claude/plugins/cache"
CACHE_LEVELS = 3
MAX_DIRECTORIES = 50_000
# What git knows a directory of its own by, whatever its name is.
_OF_GIT = frozenset(("HEAD", "objects", "refs"))


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


def git_directories(root: str) -> list[str] | None:
    """The directories below ``root`` in which git keeps its own, passwords of remotes among them;
    by their paths from there. No link is followed. None: there are too many to look through."""
    found: list[str] = []
    waiting, left = [""], MAX_DIRECTORIES
    while waiting:
        here, left = waiting.pop(), left - 1
        if left < 0:
            return None
        try:
            with os.scandir(os.path.join(root, here)) as scan:
                inside = {entry.name: entry.is_dir(follow_symlinks=False) for entry in scan}
        except OSError:
            continue  # nobody can list it, so no guest can
        if here and (os.path.basename(here) == ".git" or inside.keys() >= _OF_GIT):
            found.append(here)
            continue
        waiting += [os.path.join(here, name) for name, is_folder in inside.items() if is_folder]
    return sorted(found)
