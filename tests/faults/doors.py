"""The two ways in that are tried in every broken environment, and what must always hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wardian

HERE = Path(__file__).parent
# The interpreter itself: a venv may live in a place that is hidden in a test.
PYTHON = os.path.realpath(sys.executable)
SOURCES = str(Path(wardian.__file__).parents[1])
# Reads a file of the host, if it can; then says that it ran at all.
GUEST = ["sh", "-c", 'cat "$0" && echo OPEN; echo inside; id -u']
DOORS = {
    "api": [PYTHON, str(HERE / "use.py")],
    "cli": [PYTHON, "-m", "wardian", "exec", "--json", "--"],
}
TIMEOUT_S = 60


@dataclass(frozen=True)
class Outcome:
    """What came of one try."""

    code: int
    stdout: bytes
    stderr: bytes
    document: dict[str, Any] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """The message with its hint."""
        return self.stderr.decode("utf-8", "replace")


def environment(**changes: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": SOURCES,
        "PYTHONDONTWRITEBYTECODE": "1",
        **changes,
    }


def attempt(
    door: list[str],
    tmp_path: Path,
    faults: list[str],
    *,
    before: list[str] | None = None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    guest: list[str] | None = None,
) -> Outcome:
    """Break things and go through the door: no hang, nothing open, no traceback."""
    secret = tmp_path / "secret"
    secret.write_text("the host's own")
    secret.chmod(0o644)  # whatever umask: only the walls keep the guest from it
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    tmp_path.chmod(0o755)
    scratch.chmod(0o777)
    surroundings = environment() if env is None else env
    breaking = [PYTHON, "-I", str(HERE / "breaking.py"), *faults, "--"]
    command = [*(before or []), *(breaking if faults else []), *door]
    done = subprocess.run(
        [*command, *(guest or GUEST), str(secret)],
        env={**surroundings, "SCRATCH": str(scratch)},
        cwd=cwd or tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    everything = done.stdout + done.stderr
    assert b"OPEN" not in everything.replace(b"echo OPEN", b""), "the guest saw the host"
    assert b"Traceback" not in everything, done.stderr.decode()
    assert b"breaking.py" not in done.stderr, "the fault could not be made"
    document = {}
    if done.stdout.startswith(b"{"):
        document = json.loads(done.stdout)
    return Outcome(done.returncode, done.stdout, done.stderr, document)


def stands(outcome: Outcome) -> None:
    """It worked, and every wall that was wanted stands."""
    assert outcome.code == 0, (outcome.code, outcome.error)
    assert outcome.document["stdout"].split() == ["inside", "1000"]
    for wall in outcome.document["protections"]:
        assert wall["enforced"] or not wall["requested"] or not wall["available"], wall


def refused(outcome: Outcome, *words: str) -> None:
    """It did not start, and said which wall, why, and what to do."""
    assert outcome.code == 125, (outcome.code, outcome.stdout, outcome.error)
    assert "inside" not in outcome.document.get("stdout", "")
    message = outcome.error or json.dumps(outcome.document)
    for word in words:
        assert word in message, message
    assert "hint: " in message or outcome.document.get("hint"), message
