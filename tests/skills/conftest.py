"""A skill on the disk, made to measure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

MakeSkill = Callable[..., Path]


@pytest.fixture
def make_skill(tmp_path: Path) -> MakeSkill:
    """Make a valid skill; ``files`` are added, with content by relative path."""

    def make(
        name: str = "my-skill",
        *,
        body: str = "Do it.\n",
        fields: str = "",
        files: dict[str, str | bytes] | None = None,
        under: Path = tmp_path,
    ) -> Path:
        folder = under / name
        folder.mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: Does it.\n{fields}---\n{body}"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
        for path, content in (files or {}).items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return make
