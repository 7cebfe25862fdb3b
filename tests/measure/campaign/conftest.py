from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, Wardian, environment
from wardian.measure.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store.sqlite")) as opened:
        yield opened


@pytest.fixture
def wardian(tmp_path: Path) -> Wardian:
    """``wardian("history", …)`` in an empty directory, with a state directory of its own."""

    def run(
        *args: str, cwd: Path = tmp_path, timeout_s: float = 240, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            cwd=cwd,
            env=environment(XDG_STATE_HOME=str(tmp_path / "state"), **env),
            check=False,
        )

    return run
