"""The command line as a person or a program uses it: a real process each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Wardian = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = [sys.executable, "-P", "-m", "wardian"]


def environment(**more: str) -> dict[str, str]:
    """The tests' own environment, without what would colour or change the output."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return kept | more


@pytest.fixture
def wardian(tmp_path: Path) -> Wardian:
    """``wardian("exec", "--", "true")``, in an empty directory, with standard input at its end."""

    def run(
        *args: str, stdin: str = "", cwd: Path = tmp_path, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *args],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=cwd,
            env=environment(**env),
            check=False,
        )

    return run
