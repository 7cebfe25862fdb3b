from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Wardian, call, environment
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
        own = environment(XDG_STATE_HOME=str(tmp_path / "state"), **env)
        return call(*args, cwd=cwd, env=own, timeout_s=timeout_s)

    return run
