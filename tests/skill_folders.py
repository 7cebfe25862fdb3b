"""Skills made for a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

MakeSkill = Callable[..., Path]


def write_skill(
    folder: Path,
    files: Mapping[str, str | bytes],
    *,
    description: str = "Made for a test",
    fields: str = "",
    body: str = "Do it.\n",
) -> Path:
    """A valid skill, named as its folder, with these files; returns the folder."""
    manifest = f"---\nname: {folder.name}\ndescription: {description}\n{fields}---\n{body}"
    for path, content in {"SKILL.md": manifest, **files}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
