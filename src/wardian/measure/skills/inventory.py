"""The skills that a campaign looks at: what each is, its scripts, its cases, how hard it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from wardian.errors import WardianError
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.reading import DEFAULT_FILE, read_cases
from wardian.skills.dependencies import declared_by
from wardian.skills.digest import skill_digest
from wardian.skills.folders import find_skills
from wardian.skills.reading import read_inside
from wardian.skills.scripts import interpreter_of, scripts_in

MAX_SOURCE_FILES = 200
MAX_SOURCE_BYTES = 256 << 10
# How hard a skill is to run: what it needs besides its interpreter.
TIERS = {1: "its interpreter only", 2: "packages or programs besides", 3: "the network"}


class SkillEntry(NamedTuple):
    """A skill. ``problem`` says why it can't be looked at; ``scripts`` are path and language."""

    name: str
    path: str
    digest: str = ""
    tier: int = 1
    scripts: tuple[tuple[str, str], ...] = ()
    cases: tuple[SkillCase, ...] = ()
    problem: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "digest": self.digest,
            "tier": self.tier,
            "scripts": [{"path": path, "language": language} for path, language in self.scripts],
            "cases": [case.name for case in self.cases],
            "problem": self.problem,
        }

    def language(self, script: str) -> str:
        """Of a script as a case names it: by its path, or by its file's name."""
        for path, language in self.scripts:
            if script in (path, os.path.basename(path)):
                return language
        try:
            found = interpreter_of(script, read_inside(self.path, script, 256, truncate=True))
        except OSError:
            return ""
        return found.name if found is not None else ""


def inventory(places: Iterable[str]) -> list[SkillEntry]:
    """Every skill at or below these paths, by name; one that can't be read has a ``problem``."""
    found: dict[str, SkillEntry] = {}
    for place in places:
        for folder in find_skills(Path(place)):
            entry = _entry(folder.resolve())
            name = entry.name
            if name in found and found[name].path != entry.path:
                name = f"{folder.parent.name}/{name}"
            found.setdefault(name, entry._replace(name=name))
    return [found[name] for name in sorted(found)]


def _entry(folder: Path) -> SkillEntry:
    bare = SkillEntry(folder.name, str(folder))
    try:
        digest = skill_digest(folder)
        scripts = tuple(
            (one.path, one.interpreter.name if one.interpreter is not None else "")
            for one in scripts_in(folder)
        )
        file = folder / DEFAULT_FILE
        cases = tuple(read_cases(str(file))) if os.path.lexists(file) else ()
        return bare._replace(digest=digest, scripts=scripts, cases=cases, tier=_tier(folder, cases))
    except (WardianError, OSError, ValueError) as error:
        return bare._replace(problem=str(error))


def _tier(folder: Path, cases: Iterable[SkillCase]) -> int:
    ones = list(cases)
    if any(case.network != "none" for case in ones):
        return 3
    declared = declared_by(folder)
    packages = bool(declared.python or declared.node or declared.prose)
    return 2 if packages or any(case.packages or case.needs for case in ones) else 1


def sources(folder: str) -> dict[str, str] | None:
    """The text files of a skill; None if there is more than a store should hold."""
    found: dict[str, str] = {}
    size = 0
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith((".", "__pycache__")))
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            size += os.path.getsize(path)
            if len(found) >= MAX_SOURCE_FILES or size > MAX_SOURCE_BYTES:
                return None
            try:
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, folder)] = file.read()
            except (UnicodeDecodeError, OSError):
                continue  # what is no text can't be shown as a patch
    return found
