from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import Wardian, call, environment


@pytest.fixture
def wardian(tmp_path: Path) -> Wardian:
    """``wardian("exec", "--", "true")``, in an empty directory, with standard input at its end."""

    def run(
        *args: str, stdin: str = "", cwd: Path = tmp_path, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return call(*args, stdin=stdin, cwd=cwd, env=environment(**env), timeout_s=60)

    return run
