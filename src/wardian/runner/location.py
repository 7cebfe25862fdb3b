"""SKILL as people give it: a directory, an archive, or the name of a skill that agents see here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wardian.errors import NothingMatched, SkillError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

MANIFESTS = ("SKILL.md", "skill.md")


class Located(NamedTuple):
    """A skill's directory, free of links; ``origin`` is itself, or the archive it came from.
    ``plugin`` is the root of the plugin around it, which a run shares too; see ``plugin``."""

    path: str
    name: str
    origin: str
    plugin: str | None = None


class located:  # noqa: N801 - used like a function, in a with statement
    """The skill as a directory, for the duration of a ``with``.

    Raises SkillError if it is no skill, or an archive that is not safe to open, and NothingMatched
    if it is neither a path nor the name of a skill.
    """

    def __init__(self, given: str) -> None:
        self._given = given
        self._archive: AbstractContextManager[object] | None = None

    def __enter__(self) -> Located:
        path = self._given
        if not os.path.lexists(path):
            path = _by_name(path)
        if os.path.basename(path) in MANIFESTS and not os.path.isdir(path):
            path = os.path.dirname(path) or "."
        origin = _without_links(path)
        if not os.path.isdir(origin):
            return self._unpacked(origin)
        from wardian.runner.plugin import plugin_of

        home = _manifest_home(origin)
        found = Located(home, os.path.basename(home), home, plugin_of(home))
        return _checked(found, self._given)

    def _unpacked(self, origin: str) -> Located:
        from wardian.skills import opened

        archive = opened(origin)
        folder = archive.__enter__()
        self._archive = archive
        try:
            found = Located(os.path.realpath(folder.path), folder.name, origin)
            return _checked(found, self._given)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        if self._archive is not None:
            self._archive.__exit__(None, None, None)  # the same, however it ends
            self._archive = None


def _without_links(path: str) -> str:
    """Raises SkillError if a link that a guest may have left leads to it."""
    from wardian.errors import UsageError
    from wardian.sandbox.paths.named import trusted_path

    try:
        return trusted_path(path, "SKILL")
    except UsageError as error:
        raise SkillError(str(error), hint=error.hint) from None


def _manifest_home(folder: str) -> str:
    """The folder with the scripts, where SKILL.md is a link to another skill's in the same clone.

    Raises SkillError if a guest may have left that link.
    """
    for name in MANIFESTS:
        link = os.path.join(folder, name)
        if os.path.islink(link):
            from pathlib import Path

            from wardian.skills.clones import clone_top
            from wardian.skills.folders import manifest_home

            home = str(manifest_home(Path(folder), clone_top(folder)))
            return home if home == folder else os.path.dirname(_without_links(link))
    return folder


def _checked(found: Located, given: str) -> Located:
    if not any(os.path.isfile(os.path.join(found.path, name)) for name in MANIFESTS):
        from pathlib import Path

        from wardian.skills.folders import find_skills
        from wardian.text import quoted

        below = [one for one in find_skills(Path(found.path)) if str(one) != found.path]
        first = os.path.join(given, os.path.relpath(below[0], found.path)) if below else ""
        number = f"{len(below)} skills lie" if len(below) != 1 else "1 skill lies"
        raise SkillError(
            "there is no SKILL.md",
            path=given,
            hint=f"{number} below it; name one, such as {quoted(first)}"
            if below
            else "a skill is a folder with a SKILL.md in it",
        )
    return found


def _by_name(name: str) -> str:
    hint = "`wardian list` shows the available skills"
    if "/" in name or name in ("", ".", ".."):
        raise SkillError("there is no such skill", path=name)
    from pathlib import Path

    from wardian.skills import discover

    every = discover(Path())
    found = [one for one in every if one.shadowed_by is None]
    for one in found:
        if one.name == name:
            _refuse_shadow(
                name, str(one.path), [str(o.path) for o in every if o.shadowed_by == one.path]
            )
            return str(one.path)
    import difflib

    near = difflib.get_close_matches(name, [one.name for one in found], 1, 0.6)
    raise NothingMatched(
        f"there is no file and no skill called {name!r}",
        hint=f"did you mean {near[0]}?" if near else hint,
    )


def _refuse_shadow(name: str, winner: str, shadowed: list[str]) -> None:
    """A skill that a guest may have put before the caller's own does not get the rights that the
    caller means for that. Raises SkillError."""
    from wardian.sandbox.paths.named import was_shared

    shared = was_shared(os.path.realpath(winner))
    own = [path for path in shadowed if was_shared(os.path.realpath(path)) is None]
    if shared is not None and own:
        raise SkillError(
            f"{winner} would be used, but it is in {shared}, which was shared for writing",
            path=name,
            hint=f"give the path of the skill: {own[0]}",
        )
