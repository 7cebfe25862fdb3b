"""A document with very much output in it is written without ever being in memory."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FLOOD = 64 << 20
MOST_MB = 150
# Runs the rest of its arguments with the output in a file, and prints how much memory that took.
MEASURE = """
import resource, subprocess, sys
with open(sys.argv[1], "wb") as file:
    done = subprocess.run(sys.argv[2:], stdout=file, check=False)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""


def measured(path: Path, *args: str) -> tuple[int, int]:
    """The exit code and the peak in MB of a wardian command whose document goes to ``path``."""
    command = [sys.executable, "-m", "wardian", *args]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), *command],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    code, peak = done.stdout.split()
    return int(code), int(peak)


@pytest.mark.parametrize("command", ["exec", "trace"])
def test_a_flood_takes_little_memory(command: str, tmp_path: Path) -> None:
    script = f"head -c {FLOOD} /dev/zero; head -c 1000 /dev/urandom >&2"
    path = tmp_path / "document"
    options = ["--json", "--output", "100M", "--", "sh", "-c", script]
    code, peak_mb = measured(path, command, *options)
    assert (code, peak_mb < MOST_MB) == (0, True), peak_mb
    # Each NUL is six characters in JSON.
    assert 6 * FLOOD < path.stat().st_size < 6 * FLOOD + 1_000_000


def test_the_document_is_the_same_as_if_it_were_made_at_once(tmp_path: Path) -> None:
    """Pieces end in the middle of characters, and what is no text comes as bytes, too."""
    text = 'aä€😀\n"\\' * 60_000
    (tmp_path / "text").write_text(text)
    binary = os.urandom(300_001)
    (tmp_path / "binary").write_bytes(binary)
    done = subprocess.run(
        [sys.executable, "-m", "wardian", "exec", "--json", "--read", f"{tmp_path}:/data", "--",
         "sh", "-c", "cat /data/text; cat /data/binary >&2; exit 3"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_code"]) == (3, 3)
    assert document["stdout"] == text
    assert document["stderr"] == binary.decode("utf-8", "replace")
    assert base64.b64decode(document["stderr_base64"]) == binary
    assert "stdout_base64" not in document
    assert done.stdout == json.dumps(document, indent=2) + "\n"
