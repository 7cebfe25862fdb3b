"""Root's tests run as root; this shows that an ordinary user, without anything, gets the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import wardian
from tests.sandbox.conformance.conftest import Box

ORDINARY_ID = 54322  # owns nothing, and needs no entry in /etc/passwd
HOLDS = ["runs", "keeps-work", "writes-shares", "is-hidden", "time", "not-found"]


@pytest.fixture(scope="module")
def stage() -> Iterator[Path]:
    """The library where every user can read it, and a place that belongs to one."""
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user's run of the tests already")
    path = Path(tempfile.mkdtemp(prefix="conformance-user-", dir="/var/tmp"))
    path.chmod(0o755)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(wardian.__file__).parent, path / "src" / "wardian", ignore=ignored)
    shutil.copy(Path(__file__).parent / "agent.py", path)
    for name in ("own", "tmp"):
        (path / name).mkdir()
        os.chown(path / name, ORDINARY_ID, ORDINARY_ID)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_an_ordinary_user_gets_the_same(box: Box, stage: Path) -> None:
    if box.is_host:
        pytest.skip("without a sandbox there is nothing to see")
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None or sys.version_info < (3, 11):
        pytest.skip("python3 of the system is not installed")
    done = subprocess.run(
        [python, "-I", stage / "agent.py", stage / "src", box.name],
        capture_output=True, text=True, timeout=120, check=False, cwd=stage / "own",
        user=ORDINARY_ID, group=ORDINARY_ID, extra_groups=[],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TMPDIR": str(stage / "tmp")},
    )  # fmt: skip
    first = ["fails-closed"] if box.name not in ("wardian", "landlock") else []
    assert done.stdout.split() == [*first, *HOLDS], done.stderr
    assert list((stage / "tmp").iterdir()) == []
