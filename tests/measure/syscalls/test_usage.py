"""What programs and skills use is traced, cached by content, and reported as it is."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from wardian.errors import InputError
from wardian.measure.syscalls import usage
from wardian.measure.syscalls.usage import (
    TracedProgram,
    program_use,
    programs,
    skill_folders,
    skill_use,
)
from wardian.syscalls import lookup
from wardian.syscalls.knowledge import known

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("program", programs(), ids=lambda one: one.name)
def test_every_program_starts_and_works_in_the_sandbox(program: TracedProgram) -> None:
    use = program_use(program)
    if use.skipped:
        pytest.skip(use.problem)
    assert use.problem == ""
    assert {"execve", "read", "close", "mmap", "exit_group"} <= set(use.calls)
    for name in use.calls:
        assert lookup(name).kind in ("allow", "when", "absent"), f"{program.name} needs {name}"


def test_what_was_measured_before_is_what_is_measured_now() -> None:
    """Not exactly: another C library may make other calls. But most of them are the same."""
    use = program_use(next(one for one in programs() if one.name == "sh"))
    committed = {name for name, one in known().items() if "sh" in one.used_by}
    assert len(committed & set(use.calls)) > 0.7 * len(committed)


def test_what_was_traced_is_not_traced_again(cache: Path) -> None:
    program = programs()[0]
    assert program_use(program, "known").skipped
    first = program_use(program)
    (kept,) = cache.glob("wardian/usage/*.json")
    kept.write_text('["read"]')
    assert program_use(program).calls == ("read",)
    assert program_use(program, "again") == first
    kept.write_text("rubbish")
    assert program_use(program) == first


def test_a_cache_that_can_not_be_written_is_no_error(cache: Path) -> None:
    cache.write_text("a file where a directory should be")
    assert program_use(programs()[0]).problem == ""


def test_a_program_that_is_missing_or_fails_is_reported() -> None:
    missing = TracedProgram("nobody", "interpreter", "no-such-program", (), "work.sh")
    assert program_use(missing) == usage.CallUse(
        "nobody", "interpreter", problem="no-such-program is not installed", skipped=True
    )
    failing = TracedProgram("sh", "interpreter", "sh", ("-c", "echo no >&2; exit 3"), "work.sh")
    assert program_use(failing).problem == "exit code 3 (exited): no"


def test_a_skill_uses_what_its_cases_make_it_use(tmp_path: Path) -> None:
    use = skill_use(ROOT / "skills" / "file-inventory")
    assert use.problem == ""
    assert {"execve", "getdents64", "clone"} <= set(use.calls)


def test_a_skill_whose_cases_can_not_run_is_reported(tmp_path: Path) -> None:
    skill = tmp_path / "odd"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: odd\ndescription: For a test.\n---\n")
    assert skill_use(skill) == usage.CallUse(
        "odd", "skill", problem="it has no cases", skipped=True
    )
    cases = textwrap.dedent("""
        [[case]]
        name = "gone"
        script = "gone.sh"
    """)
    (skill / "cases.toml").write_text(cases)
    assert "gone" in skill_use(skill).problem
    (skill / "cases.toml").write_text("rubbish [")
    assert skill_use(skill).problem


def test_skills_are_found_below_a_directory(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "skills" / "csv-report", tmp_path / "all" / "csv-report")
    assert [one.name for one in skill_folders(tmp_path / "all")] == ["csv-report"]
    assert [one.name for one in skill_folders(tmp_path / "all/csv-report")] == ["csv-report"]
    assert skill_folders(None) == []
    with pytest.raises(InputError, match="not a directory"):
        skill_folders(tmp_path / "nowhere")
