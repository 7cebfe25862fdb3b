"""Which skills of a folder, an archive or a clone are meant: by name, or by their plugin's name."""

from __future__ import annotations

from pathlib import Path

from wardian.errors import NothingMatched, SkillError, UsageError
from wardian.skills.folders import find_skills, is_skill_folder
from wardian.skills.plugins import plugins_of
from wardian.skills.skill import load_skill

SHOWN = 20


def chosen_skills(place: Path, names: tuple[str, ...]) -> list[tuple[str, Path]]:
    """Name and folder of each skill that is meant; without names, of the only one.

    Raises NothingMatched, SkillError if one does not load, and UsageError if one must be chosen.
    """
    if not names and is_skill_folder(place):
        return [(load_skill(place, scripts=False).name, place)]
    by_name: dict[str, Path] = {}
    for folder in find_skills(place):
        try:
            by_name.setdefault(load_skill(folder, scripts=False).name, folder)
        except SkillError:
            continue  # `wardian check` reports it
    if not by_name:
        raise NothingMatched("no skill there", hint="a skill is a folder with a SKILL.md")
    if not names and len(by_name) == 1:
        return list(by_name.items())
    if not names:
        raise UsageError(
            f"there are {len(by_name)} skills", hint=f"choose among: {_shown(by_name)}"
        )
    found: dict[str, Path] = {}
    for name in names:
        meant = {name: by_name[name]} if name in by_name else _of_plugin(place, name, by_name)
        if not meant:
            raise NothingMatched(
                f"no skill called {name!r}", hint=f"the skills are: {_shown(by_name)}"
            )
        found.update(meant)
    return list(found.items())


def _of_plugin(place: Path, name: str, by_name: dict[str, Path]) -> dict[str, Path]:
    places = [p for plugin in plugins_of(place) if plugin.name == name for p in plugin.places]
    return {
        skill: folder
        for skill, folder in by_name.items()
        if any(folder.resolve().is_relative_to(root) for root in places)
    }


def _shown(by_name: dict[str, Path]) -> str:
    names = sorted(by_name)
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
