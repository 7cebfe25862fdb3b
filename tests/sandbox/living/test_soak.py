"""Hundreds of living sandboxes with random kills: nothing hangs, nothing is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).with_name("soak.py")
SECONDS = float(os.environ.get("WARDIAN_SOAK_S", "40"))
SANDBOXES = int(os.environ.get("WARDIAN_SOAK_SANDBOXES", "200"))


@pytest.mark.long
def test_nothing_hangs_and_nothing_is_left_whoever_is_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SOAK), str(SECONDS), str(SANDBOXES)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS + 900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(found, indent=1))
    assert found["commands"] and found["commands killed"] and found["supervisors killed"]
    assert not found.get("hanging") and not found["callers hanging"]
    assert not [key for key in found if key.startswith("broken")], found
    for left in ("processes", "work directories", "control groups"):
        assert not found[f"{left} left"], found
    assert found["mounts more"] <= 0
    assert found.get("descriptors left", 0) <= 0, found
