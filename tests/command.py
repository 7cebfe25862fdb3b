"""The command line as a person or a program uses it: a real process each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

Wardian = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = [sys.executable, "-P", "-m", "wardian"]


def environment(**more: str) -> dict[str, str]:
    """The tests' own environment, without what would colour or change the output."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return kept | more


def call(
    *args: object, cwd: Path, env: Mapping[str, str], stdin: str = "", timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """``wardian ARGS`` with this text on its standard input."""
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=cwd,
        env=env,
        check=False,
    )
