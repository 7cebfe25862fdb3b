"""What a skill is: read, checked, found, packed and unpacked. Knows no sandbox.

diagnostic     one finding, and the table of rules
frontmatter → yamltree → specification → manifest     SKILL.md, from text to fields
reading        files of an untrusted folder
scripts, dependencies, imports, syntax, references    what lies beside SKILL.md
digest         a skill's identity: one digest over its files
skill          the data, and the lenient way to load it
checking       the strict way to read it
clones, folders, plugins     skill folders in a tree, and the plugins that its files name
discovery      where clients keep skills
template       a new skill
archive/       zip and tar, in and out
prompt, sarif  what agents and code scanners read

The names below are imported from their modules on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wardian.skills.archive import Packed, pack, unpack, unpacked
    from wardian.skills.checking import check
    from wardian.skills.diagnostic import Diagnostic
    from wardian.skills.discovery import Found, discover
    from wardian.skills.folders import find_skills
    from wardian.skills.prompt import available_skills
    from wardian.skills.scripts import Interpreter, Script
    from wardian.skills.skill import Skill, load_skill, opened

_HOMES = {
    "Diagnostic": "diagnostic",
    "Found": "discovery",
    "Interpreter": "scripts",
    "Packed": "archive",
    "Script": "scripts",
    "Skill": "skill",
    "available_skills": "prompt",
    "check": "checking",
    "discover": "discovery",
    "find_skills": "folders",
    "load_skill": "skill",
    "opened": "skill",
    "pack": "archive",
    "unpack": "archive",
    "unpacked": "archive",
}

__all__ = [
    "Diagnostic",
    "Found",
    "Interpreter",
    "Packed",
    "Script",
    "Skill",
    "available_skills",
    "check",
    "discover",
    "find_skills",
    "load_skill",
    "opened",
    "pack",
    "unpack",
    "unpacked",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
