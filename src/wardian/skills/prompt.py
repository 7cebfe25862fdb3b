"""The ``<available_skills>`` block: what an agent learns of the skills it may read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wardian.skills.skill import MANIFEST_NAMES, Skill

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def available_skills(skills: Iterable[Skill]) -> str:
    """Names, descriptions and locations as XML, one element to a line.

    Text from a skill can close no element, start none, and hold no character that XML forbids.
    """
    lines = ["<available_skills>"]
    for skill in skills:
        lines.append("<skill>")
        for tag, value in (
            ("name", skill.name),
            ("description", skill.description),
            ("location", str(location(skill))),
        ):
            lines += [f"<{tag}>", escaped(value), f"</{tag}>"]
        lines.append("</skill>")
    lines.append("</available_skills>")
    return "\n".join(lines)


def location(skill: Skill) -> Path:
    """Where the agent reads the instructions: the SKILL.md, or the archive that holds it."""
    path = skill.path.resolve()
    if path.is_dir():
        for name in MANIFEST_NAMES:
            if (path / name).is_file():
                return path / name
    return path


def escaped(text: str) -> str:
    """``text`` as XML character data."""
    # Not in XML 1.0 at all, even as references: C0 but tab and line ends, surrogates, U+FFFE/F.
    allowed = (
        character
        if character in "\t\n\r"
        or " " <= character < "\ud800"
        or "\ue000" <= character < "\ufffe"
        or character > "\uffff"
        else "\ufffd"
        for character in text
    )
    return "".join(allowed).translate(_ESCAPES)
