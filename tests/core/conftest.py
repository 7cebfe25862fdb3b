"""The launcher's sources, built as tests need them; apart from a tree that can't be written."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
Build = Callable[[str], Path]


@pytest.fixture(scope="session")
def build() -> Build:
    """Build one of core's targets and return its path; workers take turns."""
    if not (CORE / "Makefile").exists() or not all(map(shutil.which, ("make", "cc"))):
        pytest.skip("needs core/, make and a C compiler")
    out = CORE / "build"
    named = "build"  # relative: make splits a path that has a space
    if not os.access(CORE, os.W_OK) or (out.exists() and not os.access(out, os.W_OK)):
        out = Path(tempfile.gettempdir()) / f"wardian-core-build-{os.geteuid()}"
        named = str(out)
    out.mkdir(mode=0o755, exist_ok=True)

    def make(target: str) -> Path:
        with open(out / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run(
                ["make", "-s", "-C", CORE, f"OUT={named}", f"{named}/{target}"],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        return out / target

    return make
