"""A run starts as fast as the sandbox does: little is imported, little is computed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.skill_folders import MakeSkill

TOO_HEAVY = (
    "asyncio", "click", "dataclasses", "difflib", "hashlib", "inspect", "json", "pathlib", "shlex",
    "subprocess", "tempfile", "tomllib", "yaml",
)  # fmt: skip
LIMIT_S = 0.025


def test_nothing_heavy_is_imported_for_a_plain_script(
    make_skill: MakeSkill, environment: dict[str, str]
) -> None:
    skill = make_skill({"scripts/a.py": "pass"})
    code = (
        "import sys; before = set(sys.modules); from wardian.cli import dispatch\n"
        f"code = dispatch(['run', {str(skill)!r}, 'a.py'])\n"
        f"print(code, sorted((set(sys.modules) - before) & {set(TOO_HEAVY)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "0 []\n", done.stdout + done.stderr


def test_a_run_costs_at_most_25_ms_of_cpu_above_exec(
    make_skill: MakeSkill, environment: dict[str, str], tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": "pass"})
    environment = {**environment, "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc")}
    del environment["PYTHONDONTWRITEBYTECODE"]
    python = [sys.executable, "-m", "wardian"]
    commands = (
        [*python, "exec", "--read", f"{skill}:/skill", "--", "python3", "/skill/scripts/a.py"],
        [*python, "run", str(skill), "a.py"],
    )
    for command in commands:
        cpu(command, environment)  # compiles
    both = [[cpu(command, environment) for command in commands] for _ in range(15)]
    # Whatever else runs on this machine only ever adds, so the least of each is nearest the truth.
    execute, run = (min(column) for column in zip(*both, strict=True))
    assert run - execute <= LIMIT_S, both


def cpu(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, cwd=os.sep)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
