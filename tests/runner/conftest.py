"""Skills made for a test, and the command line as people call it, with homes of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command import COMMAND, Wardian
from tests.skill_folders import MakeSkill, write_skill

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def make_skill(tmp_path: Path) -> MakeSkill:
    """``make_skill({"scripts/a.py": "…"})`` → the folder of a valid skill called demo."""

    def make(files: dict[str, str | bytes], name: str = "demo") -> Path:
        return write_skill(tmp_path / "skills" / name, files)

    return make


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The caller's own, with caches, state and settings of package managers below the test."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "UV_", "npm_", "NPM_", "WARDIAN_", "PYTHONPATH"))
    }
    return kept | {
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PYTHONPATH": str(SOURCE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "UV_NO_CONFIG": "1",
        "NO_COLOR": "1",
    }


@pytest.fixture
def wardian(environment: dict[str, str], tmp_path: Path) -> Wardian:
    """``wardian("run", …)`` in an empty working directory; ``env`` adds variables."""
    here = tmp_path / "here"
    here.mkdir()

    def call(*args: object, env: dict[str, str] | None = None, **more: object) -> object:
        options: dict[str, object] = {"cwd": here, "timeout": 120, "text": True, **more}
        return subprocess.run(
            [*COMMAND, *map(str, args)],
            env=environment | (env or {}),
            capture_output=True,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return call  # type: ignore[return-value]


def needs(program: str) -> pytest.MarkDecorator:
    """A test that runs where the program is installed."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def index_settings() -> dict[str, str]:
    """The index that this machine uses, for a test that fetches from it."""
    given = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "UV_", "npm_"))}
    return {"PIP_CONFIG_FILE": "", "PIP_NO_INDEX": "0", "UV_NO_CONFIG": "0"} | given
