"""The command line with settings of its own, and records read as a program would read them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND
from tests.skill_folders import MakeSkill, write_skill

Wardian = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The tests' own, without anything that sets or colours, and with an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("WARDIAN_") and name not in ("NO_COLOR", "FORCE_COLOR")
    }
    return kept | {"XDG_CONFIG_HOME": str(home / "config"), "HOME": str(home)}


@pytest.fixture
def wardian(environment: dict[str, str], tmp_path: Path) -> Wardian:
    """``wardian("exec", …)`` in a directory of its own; ``env`` adds variables."""
    here = tmp_path / "here"
    here.mkdir()

    def run(
        *args: object, env: dict[str, str] | None = None, **more: Any
    ) -> subprocess.CompletedProcess[bytes]:
        options = {"cwd": here, "timeout": 60, "stdin": subprocess.DEVNULL, **more}
        if not {"stdout", "stderr"} & set(more):
            options["capture_output"] = True
        return subprocess.run(
            [*COMMAND, *map(str, args)], env=environment | (env or {}), check=False, **options
        )

    return run


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A directory for records, which is not there yet."""
    return tmp_path / "records"


@pytest.fixture
def make_skill(tmp_path: Path) -> MakeSkill:
    """``make_skill({"scripts/a.py": "…"})`` → the folder of a valid skill called demo."""

    def make(files: dict[str, str]) -> Path:
        return write_skill(tmp_path / "skills" / "demo", files)

    return make


def only(records: Path) -> Path:
    """The one record that is there."""
    (found,) = records.iterdir()
    return found


def document(record: Path) -> dict[str, Any]:
    """Its record.json."""
    found: dict[str, Any] = json.loads((record / "record.json").read_text())
    return found


def everything(directory: Path) -> bytes:
    """All bytes below a directory, and all names."""
    found = b""
    for path in sorted(directory.rglob("*")):
        found += os.fsencode(path.relative_to(directory)) + b"\n"
        if path.is_file():
            found += path.read_bytes()
    return found


def on_small_disk(place: Path, size: str, script: str) -> list[str]:
    """A command that runs a shell script with a file system of that size at ``place``."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed")
    place.mkdir()
    own = ["-m"] if os.geteuid() == 0 else ["-Urm"]
    mounted = f"mount -t tmpfs -o size={size} none {place} || exit 77; {script}"
    return [unshare, *own, "sh", "-c", mounted]
