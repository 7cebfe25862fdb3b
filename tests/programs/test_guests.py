"""Real programs print inside what they print outside: each is a specimen and its own oracle."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox, natively
from wardian import Policy

pytestmark = pytest.mark.long

GUESTS = Path(__file__).parent / "guests"
# The interpreter itself, wherever it lives (pyenv, /opt, /usr), rather than the venv of the tests.
PYTHON = os.path.realpath(sys.executable)
SYSTEM_PYTHON = "/usr/bin/python3"

PROGRAMS = [
    *((PYTHON, name) for name in ("threads.py", "processes.py", "asynchronous.py")),
    *((PYTHON, name) for name in ("library.py", "kernel_objects.py", "terminals.py")),
    *((SYSTEM_PYTHON, name) for name in ("processes.py", "library.py", "kernel_objects.py")),
    ("bash", "shell.sh"),
    ("sh", "dash.sh"),
    ("node", "node.js"),
    ("perl", "perl.pl"),
]


def needed(*programs: str) -> None:
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))


@pytest.mark.parametrize(
    ("program", "script"), PROGRAMS, ids=[f"{Path(p).name}-{s}" for p, s in PROGRAMS]
)
def test_a_program_does_inside_what_it_does_outside(
    program: str, script: str, tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    needed(program)
    inside, outside = tmp_path / "in", tmp_path / "out"
    for place in (inside, outside):
        place.mkdir()
        shutil.copy(GUESTS / script, place)
    expected = natively([program, script], outside)
    assert expected.returncode == 0, expected.stderr.decode()
    sandbox = make_sandbox(Policy.default().but(work=str(inside)))
    result = sandbox.run([program, script], env={"LC_ALL": "C.UTF-8"}, timeout_s=100)
    assert result.stdout.decode() == expected.stdout.decode(), result.stderr.decode()
    assert result.exit_code == 0
    assert [one.action for one in result.refusals if one.kind == "syscall"] == []
