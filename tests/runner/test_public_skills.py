"""Scripts of a public repository of skills give under wardian what they give without.

WARDIAN_SKILLS_REPO names a checkout of github.com/anthropics/skills; without it nothing is tried.
What a script needs is fetched from the package index, once. The scripts run natively too, as the
oracle, with a home of their own; those that install things are left out of that.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wardian.runner.cases.model import CaseExpectation, SkillCase
from wardian.runner.cases.reading import read_cases
from wardian.runner.cases.running import Options, run_case
from wardian.runner.location import located
from wardian.skills.scripts import scripts_in

REPO = os.environ.get("WARDIAN_SKILLS_REPO", "")
pytestmark = pytest.mark.skipif(not REPO, reason="WARDIAN_SKILLS_REPO is not set")

CASES = read_cases(str(Path(__file__).parent / "public/cases.toml"))
PACKAGES = max((case.packages for case in CASES), key=len)


def repository() -> Path:
    root = Path(REPO)
    return root / "skills" if (root / "skills").is_dir() else root


def help_cases() -> list[SkillCase]:
    """Every Python file, asked for help: it imports all it needs before it answers."""
    if not REPO:
        return []
    return [
        SkillCase(
            name=f"{folder.name}: {script.path} --help",
            skill=folder.name,
            script=script.path,
            args=("--help",),
            packages=PACKAGES,
            time_s=180.0,
            compare=("exit", "stdout", "stderr"),
            expect=CaseExpectation(exit=None),
        )
        for folder in sorted(repository().iterdir())
        if folder.is_dir()
        for script in scripts_in(folder)
        if script.interpreter is not None and script.interpreter.name == "python"
    ]


@pytest.mark.parametrize("one", [*CASES, *help_cases()], ids=lambda one: one.name)
def test_the_same_inside_and_outside(one: SkillCase) -> None:
    with located(str(repository() / str(one.skill))) as skill:
        options = Options(("wardian",), oracle="host", say=lambda line: None)
        outcomes = run_case(skill, one, options)
    assert outcomes[0].verdict in ("pass", "skip"), "\n".join(outcomes[0].problems)
