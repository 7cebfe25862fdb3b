"""What is promised: documented codes, a small import, public skills that check, speed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import wardian.skills
from tests.skill_folders import MakeSkill
from wardian.skills import check, load_skill
from wardian.skills.diagnostic import RULES

ROOT = Path(__file__).parents[2]


def test_every_code_is_documented_with_its_severity_and_nothing_else_is() -> None:
    text = (ROOT / "docs" / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    rows = {
        (cells[0], cells[1].strip("`"), cells[2])
        for line in text.splitlines()
        if line.startswith("| WS")
        for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
    }
    assert rows == {(rule.code, rule.name, rule.severity) for rule in RULES.values()}


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES.values()}) == len(RULES)


def test_the_public_names_are_all_there() -> None:
    for name in wardian.skills.__all__:
        assert getattr(wardian.skills, name) is not None
    with pytest.raises(AttributeError):
        wardian.skills.nothing  # noqa: B018


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    return done.stdout


def test_loading_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys; before = set(sys.modules); import wardian.skills.skill\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    heavy = {"subprocess", "zipfile", "tarfile", "lzma", "json", "tomllib", "click"}
    assert not heavy & set(python(code).split())


def test_the_package_alone_imports_nothing() -> None:
    code = "import sys, wardian.skills; print('yaml' in sys.modules, 'pathlib' in sys.modules)"
    assert python(code).split()[0] == "False"


def test_five_hundred_skills_take_less_than_the_reference_needs_for_fifty(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    pytest.importorskip("skills_ref")
    body = "Run `scripts/run.py`.\n" * 20
    for number in range(500):
        source = f"import json\n\n\ndef main() -> None:\n    print(json.dumps({number}))\n"
        files: dict[str, str | bytes] = {"scripts/run.py": source}
        make_skill(f"skill-{number}", body=body, files=files, under=tmp_path / "all")
    code = "import sys; from {} import {} as run; run(sys.argv[1:])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def cpu_s(program: str, *args: str | Path) -> float:
        before = used()
        done = subprocess.run(
            [sys.executable, "-c", program, *args], capture_output=True, check=False,
            env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return used() - before

    mine = cpu_s(code.format("wardian.cli.check", "command"), tmp_path / "all")
    reference = code.format("skills_ref.cli", "main")
    # Its command takes one skill; five show what fifty would need.
    five = sum(cpu_s(reference, "validate", tmp_path / "all" / f"skill-{n}") for n in range(5))
    assert mine < five * 10


@pytest.mark.skipif("WARDIAN_SKILLS_REPO" not in os.environ, reason="WARDIAN_SKILLS_REPO unset")
def test_the_public_skills_load_and_have_the_scripts_we_know() -> None:
    folders = sorted(Path(os.environ["WARDIAN_SKILLS_REPO"], "skills").iterdir())
    assert len(folders) >= 17
    assert sum(len(load_skill(folder).scripts) for folder in folders) >= 75
    errors = {
        (folder.name, one.code)
        for folder in folders
        for one in check(folder)
        if one.severity == "error"
    }
    assert errors <= {("claude-api", "WS213")}
