"""``wardian test``: cases are read strictly, run, compared and reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.dom import minidom

import pytest

from tests.command import Wardian
from tests.skill_folders import MakeSkill
from wardian.errors import InputError
from wardian.runner.cases.checks import Observed, differences, problems
from wardian.runner.cases.model import CaseExpectation, FileExpectation, SkillCase, TextExpectation
from wardian.runner.cases.reading import read_cases
from wardian.runner.cases.report import junit
from wardian.runner.cases.running import CaseOutcome

SEEN = Observed(0, "exited", "hello\nworld\n", "", {"a.txt": b"content"})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[[case]]\nscript = 'a'", "`name` is needed"),
        ("[[case]]\nname = 'x'", "`script` is needed"),
        ("[[case]]\nname = 'x'\nscript = 'a'\nargz = []", "did you mean `args`?"),
        ("[[case]]\nname = 'x'\nscript = 'a'\nargs = [1]", "`args` must be a list of strings"),
        ("[[case]]\nname = 'x'\nscript = 'a'\n[case.expect]\nexit = 'maybe'", '"any"'),
        ("[[case]]\nname = 'x'\nscript = 'a'\n[case.expect]\nexit = true", "`exit` has"),
        (
            "[[case]]\nname = 'x'\nscript = 'a'\n[case.expect]\nstdout_matches = '('",
            "not a regular",
        ),
        ("[[case]]\nname = 'x'\nscript = 'a'\ncompare = ['smell']", "`compare` takes"),
        (
            "[[case]]\nname = 'x'\nscript = 'a'\n[case.files]\nf = {copy = '../../etc/passwd'}",
            "beside",
        ),
        (
            "[[case]]\nname = 'x'\nscript = 'a'\n[case.files]\nf = {base64 = '!'}",
            "can't be decoded",
        ),
        ("[[case]]\nname = 'x'\nscript = 'a'\n[[case]]\nname = 'x'\nscript = 'a'", "two cases"),
        ("case = 3", "wrong type"),
        ("[[case]", "not TOML"),
    ],
)
def test_a_fault_in_a_file_is_reported(text: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"cases\.toml: ") as caught:
        read_cases(str(path))
    assert wrong in str(caught.value)


@pytest.mark.parametrize(
    ("expect", "count"),
    [
        (CaseExpectation(), 0),
        (CaseExpectation(exit=1), 1),
        (CaseExpectation(exit=None), 0),
        (CaseExpectation(stdout=TextExpectation(equals="hello\nworld\n")), 0),
        (CaseExpectation(stdout=TextExpectation(equals="hello\n")), 1),
        (CaseExpectation(stdout=TextExpectation(contains=("ell", "orl"))), 0),
        (CaseExpectation(stdout=TextExpectation(contains=("elk", "ork"))), 2),
        (CaseExpectation(stdout=TextExpectation(lacks=("world",))), 1),
        (CaseExpectation(stdout=TextExpectation(matches="^w.*d$")), 0),
        (CaseExpectation(stderr=TextExpectation(matches=".")), 1),
        (CaseExpectation(files=(("a.txt", FileExpectation(equals=b"content")),)), 0),
        (CaseExpectation(files=(("a.txt", FileExpectation(equals=b"other")),)), 1),
        (CaseExpectation(files=(("b.txt", FileExpectation()),)), 1),
        (CaseExpectation(files=(("b.txt", FileExpectation(exists=False)),)), 0),
        (CaseExpectation(files=(("a.txt", FileExpectation(exists=False)),)), 1),
        (CaseExpectation(files=(("a.txt", FileExpectation(min_bytes=8, sha256="0")),)), 2),
        (CaseExpectation(refused=("network",)), 1),
        (CaseExpectation(reason="time limit"), 1),
    ],
)
def test_each_expectation_is_looked_at(expect: CaseExpectation, count: int) -> None:
    assert len(problems(expect, SEEN, sandboxed=True)) == count


def test_refusals_are_not_expected_of_the_host() -> None:
    assert problems(CaseExpectation(refused=("network",)), SEEN, sandboxed=False) == []


def test_differences_from_the_oracle_are_told_by_part() -> None:
    other = SEEN._replace(exit=1, stdout="hello\nthere\n", files={"b.txt": b""})
    every = ("exit", "stdout", "stderr", "files")
    assert len(differences(every, SEEN, other, "host")) == 4
    assert differences(("stderr",), SEEN, other, "host") == []
    assert differences(every, SEEN, SEEN, "host") == []


def test_junit_holds_whatever_a_script_prints() -> None:
    case = SkillCase("<&\x1b[31m\"'", "a.py")
    nasty = ("exit \x00\ud800 ]]> & <b>",)
    text = junit(
        [CaseOutcome("s", case, "wardian", "fail", nasty), CaseOutcome("s", case, "host", "skip")]
    )
    root = minidom.parseString(text.encode("utf-8", "strict"))  # noqa: S318 - our own
    suites = root.getElementsByTagName("testsuite")
    assert [suite.getAttribute("failures") for suite in suites] == ["1", "0"]


CASES = """
[[case]]
name = "right"
script = "a.sh"
args = ["{work}/in.txt"]
setup = ["echo made > by-setup"]
stdin = "from stdin"
env = { WORD = "variable" }
[case.files]
"in.txt" = "from a file"
[case.expect]
stdout = "from a file|from stdin|variable|made\\n"
files = { "out.txt" = "written\\n" }

[[case]]
name = "wrong"
script = "a.sh"
args = ["in.txt"]
[case.files]
"in.txt" = ""
[case.expect]
stdout_contains = "never printed"
"""
SCRIPT = 'echo "$(cat "$1")|$(cat)|$WORD|$(cat by-setup 2>/dev/null)"; echo written > out.txt'


def test_cases_run_in_every_backend_and_are_reported(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": SCRIPT, "cases.toml": CASES})
    report = tmp_path / "report.xml"
    done = wardian(
        "test", skill, "--in", "wardian,host", "--oracle", "host", "--junit", report, "--json"
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["summary"] == {"pass": 2, "fail": 2, "error": 0, "skip": 0}
    assert report.read_text().count("<testsuite ") == 2
    right = wardian("test", skill, "--case", "r*")
    assert right.returncode == 0
    assert "right" in right.stdout
    assert "pass" in right.stdout


@pytest.mark.parametrize(("name", "program"), [("bubblewrap", "bwrap"), ("gvisor", "runsc")])
def test_a_backend_that_lacks_walls_gives_them_up_by_name_and_tells(
    make_skill: MakeSkill, wardian: Wardian, name: str, program: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    skill = make_skill({"scripts/a.sh": SCRIPT, "cases.toml": CASES})
    done = wardian("test", skill, "--in", name, "--case", "right")
    assert done.returncode == 0, done.stdout
    assert f"{name} does not support: " in done.stderr


def test_nothing_matched_is_3_and_bad_usage_2(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill({"scripts/a.sh": SCRIPT, "cases.toml": CASES})
    assert wardian("test", skill, "--case", "nothing").returncode == 3
    assert wardian("test", make_skill({}, "other")).returncode == 3
    assert wardian("test", skill, "--in", "moon").returncode == 2


def test_one_file_may_name_the_skills_of_a_folder(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    make_skill({"scripts/a.sh": "echo one"}, "one")
    folder = make_skill({"scripts/a.sh": "echo two"}, "two").parent
    cases = tmp_path / "all.toml"
    cases.write_text(
        "".join(
            f"[[case]]\nname = 'says {n}'\nskill = '{n}'\nscript = 'a.sh'\n"
            f'expect.stdout = "{n}\\n"\n'
            for n in ("one", "two")
        )
    )
    done = wardian("test", folder, "--cases", cases)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_from_the_host_is_a_failure(make_skill: MakeSkill, wardian: Wardian) -> None:
    cases = "[[case]]\nname = 'who'\nscript = 'a.sh'\n"
    skill = make_skill(
        {"scripts/a.sh": "hostname; ls /proc | grep -c '^[0-9]'", "cases.toml": cases}
    )
    assert wardian("test", skill).returncode == 0
    done = wardian("test", skill, "--oracle", "host")
    assert done.returncode == 1
    assert "stdout differs from host" in done.stdout


def test_a_script_that_is_not_there_is_an_error_and_the_others_run(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    cases = "".join(f"[[case]]\nname = '{n}'\nscript = '{n}.sh'\n" for n in ("a", "missing"))
    skill = make_skill({"scripts/a.sh": "true", "cases.toml": cases})
    document = json.loads(wardian("test", skill, "--json").stdout)
    assert [one["verdict"] for one in document["outcomes"]] == ["pass", "error"]


def test_an_archive_runs_its_own_cases(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    case = "[[case]]\nname = 'hello'\nscript = 'a.py'\n[case.expect]\nstdout = \"hi\\n\"\n"
    folder = make_skill({"scripts/a.py": "print('hi')\n", "cases.toml": case})
    packed = tmp_path / "demo.skill"
    assert wardian("pack", folder, "-o", packed).returncode == 0
    shutil.rmtree(folder)
    done = wardian("test", packed, "--json")
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (done.returncode, outcome["skill"], outcome["verdict"]) == (0, "demo", "pass")
    done = wardian("test", packed, "--case", "another")
    assert done.returncode == 3
    assert f"no case for {packed} matches 'another'" in done.stderr
