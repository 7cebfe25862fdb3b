"""Where clients keep skills: found by a bounded scan, with the precedence told."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from wardian.errors import SkillError
from wardian.skills.diagnostic import Diagnostic
from wardian.skills.reading import JUNK_FOLDERS, read_bytes
from wardian.skills.skill import MANIFEST_NAMES, Skill, load_skill

MAX_DEPTH = 5
MAX_DIRECTORIES = 2_000

# In the order in which they win, within one scope.
ROOTS = (".agents/skills", ".claude/skills", ".codex/skills", ".gemini/skills", ".cursor/skills")
MARKETPLACE = ".claude-plugin/marketplace.json"
_PLUGINS = ".claude/plugins"

Scope = Literal["project", "user"]


@dataclass(frozen=True, slots=True)
class Found:
    """A skill where a client would find it; ``skill`` is None if it does not load, and why.

    ``shadowed_by`` is the path of the skill of the same name that wins.
    """

    path: Path
    root: Path
    scope: Scope
    client: str
    skill: Skill | None
    problem: str | None = None
    shadowed_by: Path | None = None

    @property
    def name(self) -> str:
        return self.skill.name if self.skill is not None else self.path.name

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.skill.diagnostics if self.skill is not None else ()


@dataclass(slots=True)
class _Scan:
    """How many directories may still be looked at, over all roots together."""

    left: int = MAX_DIRECTORIES

    def folders(self, root: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
        """Skill folders below ``root``, in order; what lies inside a skill is not looked at."""
        waiting = deque([(root, 0)])
        while waiting and self.left > 0:
            here, level = waiting.popleft()
            self.left -= 1
            if level and is_skill_folder(here):
                yield here
                continue
            if level < depth:
                waiting.extend((child, level + 1) for child in _children(here))


def is_skill_folder(path: Path) -> bool:
    """Whether a SKILL.md of any kind lies directly in ``path``."""
    return any(os.path.lexists(path / name) for name in MANIFEST_NAMES)


def find_skills(root: Path, *, max_directories: int = MAX_DIRECTORIES) -> list[Path]:
    """The skill folders at or below ``root``, each once, bounded in depth and number."""
    if is_skill_folder(root):
        return [root]
    found: dict[Path, Path] = {}
    for folder in _Scan(max_directories).folders(root):
        found.setdefault(folder.resolve(), folder)
    return sorted(found.values())


def discover(project: Path, home: Path | None = None) -> list[Found]:
    """Every skill that clients would see from ``project``, winners and shadowed, in precedence.

    The project and its parents up to the repository's top (or the home) come before the user's
    own; within each scope the order of ROOTS decides. Nothing is trusted, only listed.
    """
    home = home or Path.home()
    scan = _Scan()
    found: list[Found] = []
    seen: set[Path] = set()
    for root, scope, client in _roots(project.resolve(), home):
        for folder in _skill_folders(root, scan):
            real = folder.resolve()
            if real not in seen:
                seen.add(real)
                found.append(_load(folder, root, scope, client))
    return _with_shadows(found)


def _skill_folders(root: Path, scan: _Scan) -> Iterator[Path]:
    if root.name == Path(MARKETPLACE).name:
        yield from marketplace_skills(root)
    elif os.path.isdir(root):
        yield from scan.folders(root)


def _roots(project: Path, home: Path) -> Iterator[tuple[Path, Scope, str]]:
    for place in _upwards(project, home):
        for root in ROOTS:
            yield place / root, "project", root.split("/", 1)[0].lstrip(".")
        yield place / MARKETPLACE, "project", "claude"
    for root in ROOTS:
        yield home / root, "user", root.split("/", 1)[0].lstrip(".")
    for marketplace in sorted(_glob(home / _PLUGINS, "marketplaces/*/" + MARKETPLACE)):
        yield marketplace, "user", "claude"
    for installed in sorted(_glob(home / _PLUGINS, "cache/*/*/*/skills")):
        yield installed, "user", "claude"


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
        return list(base.glob(pattern))[:100] if os.path.isdir(base) else []
    except OSError:
        return []


def marketplace_skills(marketplace: Path) -> list[Path]:
    """The skill folders that a plugin marketplace names, those inside its repository only."""
    top = marketplace.parent.parent.resolve()
    try:
        document = json.loads(read_bytes(marketplace, 1 << 20))
        plugins = document["plugins"]
        named = [
            top / str(plugin.get("source", ".")) / str(skill)
            for plugin in plugins
            if isinstance(plugin.get("source", "."), str)
            for skill in plugin.get("skills", ())
        ]
        inside = dict.fromkeys(path.resolve() for path in named[:MAX_DIRECTORIES])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
        return []  # RuntimeError: links in a circle, or nesting without end
    return [path for path in inside if path.is_relative_to(top) and is_skill_folder(path)]


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as scan:
            return sorted(
                Path(item.path) for item in scan if item.name not in JUNK_FOLDERS and item.is_dir()
            )
    except OSError:
        return []


def _load(folder: Path, root: Path, scope: Scope, client: str) -> Found:
    try:
        return Found(folder, root, scope, client, load_skill(folder, scripts=False))
    except SkillError as error:
        return Found(folder, root, scope, client, None, str(error))


def _with_shadows(found: list[Found]) -> list[Found]:
    winners: dict[str, Path] = {}
    told = []
    for one in found:
        if one.skill is None:
            told.append(one)
            continue
        winner = winners.setdefault(one.name, one.path)
        told.append(one if winner == one.path else replace(one, shadowed_by=winner))
    return told
