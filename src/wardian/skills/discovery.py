"""Where clients keep skills, and which of two wins. Nothing is trusted, only listed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from wardian.errors import SkillError
from wardian.skills.clones import PLUGIN_CACHE, PLUGIN_FOLDER, clone_top
from wardian.skills.diagnostic import Diagnostic
from wardian.skills.folders import FolderScan, is_skill_folder
from wardian.skills.plugins import MARKETPLACE, plugins_of
from wardian.skills.skill import MANIFEST_NAMES, Skill, load_skill

# In the order in which they win, within one scope.
ROOTS = (".agents/skills", ".claude/skills", ".codex/skills", ".gemini/skills", ".cursor/skills")
_MARKETPLACES = ".claude/plugins/marketplaces"
MAX_GLOBBED = 100

Scope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class Found:
    """A skill where a client would find it; ``skill`` is None if it does not load, and why.

    ``client`` is "clone" for a skill that lies in a repository of skills and that no client's
    folder there and no plugin holds. ``shadowed_by`` is the skill of the same name that wins.
    """

    path: Path
    root: Path
    scope: Scope
    client: str
    skill: Skill | None
    problem: str | None = None
    shadowed_by: Path | None = None
    plugin: str | None = None

    @property
    def name(self) -> str:
        return self.skill.name if self.skill is not None else self.path.name

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.skill.diagnostics if self.skill is not None else ()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to look. Links lead as far as ``top``; None for the user, who links at will."""

    path: Path
    scope: Scope
    client: str
    top: Path | None = None
    plugin: str | None = None
    with_root: bool = True


def discover(project: Path, home: Path | None = None) -> list[Found]:
    """Every skill that clients would see from ``project``, winners and shadowed, in precedence.

    The project and its parents up to the repository's top (or the home) come before the user's
    own; within each scope the order of ROOTS decides. In a repository of skills, those of its
    plugins come next, then all others in it.
    """
    home = home or Path.home()
    scans = {"project": FolderScan(), "user": FolderScan()}
    found: list[Found] = []
    seen: set[Path] = set()
    for place in (*_project(project.resolve(), home), *_user(home)):
        for folder in scans[place.scope].folders(place.path, place.top, with_root=place.with_root):
            real = folder.resolve()
            if real not in seen and not _is_dead(folder):
                seen.add(real)
                found.append(_load(folder, place))
    return _with_shadows(found)


def _project(project: Path, home: Path) -> Iterator[_Place]:
    places = list(_upwards(project, home))
    for place in places:
        top = Path(clone_top(str(place), str(home)) or place)
        for root in ROOTS:
            client = root.split("/", 1)[0].lstrip(".")
            yield _Place(place / root, "project", client, top, with_root=False)
    for place in places:
        yield from _plugins(place, "project")
        if _is_collection(place):
            yield _Place(place, "project", "clone", place)


def _user(home: Path) -> Iterator[_Place]:
    for root in ROOTS:
        client = root.split("/", 1)[0].lstrip(".")
        yield _Place(home / root, "user", client, with_root=False)
    for marketplace in sorted(_glob(home / _MARKETPLACES, "*/" + MARKETPLACE)):
        yield from _plugins(marketplace.parent.parent, "user")
    for installed in sorted(_glob(home / PLUGIN_CACHE, "*/*/*/skills")):
        yield _Place(installed, "user", "claude", installed.parent, installed.parent.parent.name)


def _plugins(top: Path, scope: Scope) -> Iterator[_Place]:
    if not os.path.isdir(top / PLUGIN_FOLDER):
        return
    for plugin in plugins_of(top):
        for place in plugin.places:
            yield _Place(place, scope, "claude", top, plugin.name)


def _is_collection(place: Path) -> bool:
    """Whether a directory is a repository of skills, and not a project that uses some."""
    if os.path.isdir(place / PLUGIN_FOLDER) or os.path.isdir(place / "skills"):
        return True
    return any(is_skill_folder(child) for child in _glob(place, "*"))


def _upwards(project: Path, home: Path) -> Iterator[Path]:
    home = home.resolve()
    for place in (project, *project.parents):
        if place in (home, Path(place.anchor)) and place != project:
            return
        if place == home:
            return  # the home's own roots are the user's
        yield place
        if os.path.exists(place / ".git"):
            return


def _glob(base: Path, pattern: str) -> list[Path]:
    try:
        return list(base.glob(pattern))[:MAX_GLOBBED] if os.path.isdir(base) else []
    except OSError:
        return []


def _is_dead(folder: Path) -> bool:
    """Whether its SKILL.md is a link to nothing, which no client sees and nobody counts."""
    return not any(os.path.exists(folder / name) for name in MANIFEST_NAMES)


def _load(folder: Path, place: _Place) -> Found:
    found = Found(folder, place.path, place.scope, place.client, None, plugin=place.plugin)
    try:
        return replace(found, skill=load_skill(folder, scripts=False))
    except SkillError as error:
        return replace(found, problem=str(error))


def _with_shadows(found: list[Found]) -> list[Found]:
    winners: dict[str, Path] = {}
    listed = []
    for one in found:
        if one.skill is None:
            listed.append(one)
            continue
        winner = winners.setdefault(one.name, one.path)
        listed.append(one if winner == one.path else replace(one, shadowed_by=winner))
    return listed
