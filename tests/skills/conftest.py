"""A skill on the disk, made to measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill, write_skill


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
        (under / name).mkdir(parents=True)
        return write_skill(
            under / name, files or {}, description="Does it.", fields=fields, body=body
        )

    return make
