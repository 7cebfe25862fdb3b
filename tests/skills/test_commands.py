"""The commands, as people and programs call them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click
import pytest
from click.testing import CliRunner, Result

from tests.skill_folders import MakeSkill
from wardian.cli import check, pack, show, unpack
from wardian.cli import list as list_command
from wardian.errors import NothingMatched, SkillError, UsageError, WardianError
from wardian.skills.diagnostic import RULES

from .archives import GOOD, Item, zip_of

COMMANDS = [check.command, list_command.command, show.command, pack.command, unpack.command]
ESCAPE = '"\\e[31mred\\n\\u202e"'


def run(command: click.Command, *args: str | Path) -> Result:
    result = CliRunner().invoke(command, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(
        result.exception, (SystemExit, WardianError)
    ):
        raise result.exception
    return result


def document(command: click.Command, *args: str | Path) -> Any:
    return json.loads(run(command, *args, "--json").stdout)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_every_command_shows_two_examples_and_offers_json(command: click.Command) -> None:
    text = run(command, "--help").stdout
    assert text.count(f"  wardian {command.name} ") + text.count(f"  wardian {command.name}\n") >= 2
    assert "--json" in text


class TestCheck:
    def test_a_valid_skill_is_silent_on_stdout(self, make_skill: MakeSkill) -> None:
        result = run(check.command, make_skill())
        assert (result.exit_code, result.stdout) == (0, "")
        assert "1 skill checked: 0 errors" in result.stderr

    def test_an_error_is_exit_1_and_a_warning_only_when_strict(self, make_skill: MakeSkill) -> None:
        warned = make_skill("warned", body="")
        assert run(check.command, warned).exit_code == 0
        assert run(check.command, "--strict", warned).exit_code == 1
        wrong = make_skill("wrong", fields="version: 1\n")
        result = run(check.command, wrong)
        assert result.exit_code == 1
        assert f"{wrong}/SKILL.md:4:1: error WS201 `version`" in result.stdout

    def test_a_folder_of_skills_is_checked_whole(
        self, make_skill: MakeSkill, tmp_path: Path
    ) -> None:
        for name in ("a", "b", "c"):
            make_skill(name, under=tmp_path / "all" / "group")
        zip_of(tmp_path / "all" / "d.skill", *GOOD)
        found = document(check.command, tmp_path / "all")
        assert found["schema"] == "wardian.check/1"
        assert found["summary"] == {"skills": 4, "errors": 0, "warnings": 0, "infos": 0}
        assert all(skill["valid"] for skill in found["skills"])

    def test_nothing_there_is_exit_3_and_a_wrong_path_2(self, tmp_path: Path) -> None:
        assert isinstance(run(check.command, tmp_path / "here").exception, NothingMatched)
        assert run(check.command, tmp_path / "nothing").exit_code == 2
        assert isinstance(run(check.command, "--json", "--sarif").exception, UsageError)

    def test_the_skill_we_stand_in_is_the_default(
        self, make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(make_skill())
        assert run(check.command).exit_code == 0

    def test_an_unsafe_archive_does_not_stop_the_others(
        self, make_skill: MakeSkill, tmp_path: Path
    ) -> None:
        bad = zip_of(tmp_path / "bad.skill", *GOOD, Item("../evil"))
        found = document(check.command, bad, make_skill())
        assert [skill["valid"] for skill in found["skills"]] == [False, True]

    def test_json_tells_code_place_and_hint(self, make_skill: MakeSkill) -> None:
        folder = make_skill(fields="version: 1\n")
        (skill,) = document(check.command, folder)["skills"]
        (one,) = skill["diagnostics"]
        assert (one["code"], one["severity"], one["line"], one["column"]) == (
            "WS201",
            "error",
            4,
            1,
        )
        assert one["hint"] == "put it under `metadata`"

    def test_sarif_names_its_rules_and_places(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        make_skill("sp ace", under=tmp_path / "all", fields="version: 1\n")
        result = run(check.command, "--sarif", tmp_path / "all")
        log = json.loads(result.stdout)
        assert (log["version"], result.exit_code) == ("2.1.0", 1)
        (only,) = log["runs"]
        rules = only["tool"]["driver"]["rules"]
        assert [rule["id"] for rule in rules] == [rule.code for rule in RULES.values()]
        for one in only["results"]:
            assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
            location = one["locations"][0]["physicalLocation"]
            assert location["artifactLocation"]["uri"].endswith("sp%20ace/SKILL.md")
            assert location["region"]["startLine"] >= 1

    def test_sarif_is_valid_by_its_schema(self, make_skill: MakeSkill) -> None:
        jsonschema = pytest.importorskip("jsonschema")
        schema = os.environ.get("WARDIAN_SARIF_SCHEMA")
        if schema is None:
            pytest.skip("WARDIAN_SARIF_SCHEMA names no schema")
        folder = make_skill(fields="version: 1\n", files={"a.py": "import yaml\n", "b.lua": ""})
        log = json.loads(run(check.command, "--sarif", folder).stdout)
        jsonschema.validate(log, json.loads(Path(schema).read_text()))


class TestList:
    def test_the_shadowed_is_told(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        make_skill("same", under=tmp_path / "here" / ".agents" / "skills")
        make_skill("same", under=tmp_path / "home" / ".claude" / "skills")
        result = run(list_command.command)
        assert result.exit_code == 0
        assert result.stdout.count("same  ") == 2
        assert "shadowed by" in result.stdout
        found = document(list_command.command)
        assert found["schema"] == "wardian.list/1"
        assert [one["shadowed_by"] is None for one in found["skills"]] == [True, False]

    def test_none_is_exit_3(self) -> None:
        assert isinstance(run(list_command.command).exception, NothingMatched)

    def test_names_can_steer_no_terminal(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        folder = make_skill("s", under=tmp_path / "here" / ".agents" / "skills")
        (folder / "SKILL.md").write_text(f"---\nname: {ESCAPE}\ndescription: {ESCAPE}\n---\n")
        bad = make_skill("t\x1b[2J", under=tmp_path / "here" / ".agents" / "skills")
        (bad / "SKILL.md").write_text("no")
        for command, *args in (
            (list_command.command,),
            (show.command, folder),
            (check.command, folder),
        ):
            text = run(command, *args).stdout
            assert text
            assert all(line.isprintable() for line in text.split("\n"))


class TestShow:
    def test_scripts_and_needs_are_shown(self, make_skill: MakeSkill) -> None:
        folder = make_skill(
            fields="license: MIT\nargument-hint: FILE\n",
            files={"scripts/a.py": "#!/usr/bin/env python3.12\n", "requirements.txt": "rich\n"},
        )
        text = run(show.command, folder).stdout
        for part in ("my-skill", "Does it.", "MIT", "python 3.12", "scripts/a.py", "rich", "FILE"):
            assert part in text
        (skill,) = document(show.command, folder)["skills"]
        assert skill["dependencies"]["python"] == ["rich"]
        assert skill["scripts"][0]["interpreter"]["version"] == "3.12"
        assert (skill["files"], skill["body_lines"]) == (3, 1)

    def test_what_a_script_declares_itself_is_shown(self, make_skill: MakeSkill) -> None:
        block = '# /// script\n# requires-python = ">=3.11"\n# dependencies = ["rich>=13"]\n# ///\n'
        folder = make_skill(files={"scripts/a.py": block, "scripts/b.py": "", "c.py": "# /// x"})
        assert "needs python >=3.11, rich>=13" in run(show.command, folder).stdout
        (skill,) = document(show.command, folder)["skills"]
        needs = {one["path"]: one["dependencies"] for one in skill["scripts"]}
        assert needs == {"scripts/a.py": ["rich>=13"], "scripts/b.py": None, "c.py": None}

    def test_a_skill_may_be_named_or_packed(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        make_skill("named", under=tmp_path / "here" / ".agents" / "skills")
        assert "named" in run(show.command, "named").stdout
        assert "my-skill" in run(show.command, zip_of(tmp_path / "x.skill", *GOOD)).stdout
        assert isinstance(run(show.command, "nameless").exception, NothingMatched)
        assert isinstance(run(show.command).exception, UsageError)

    def test_the_prompt_is_xml_that_no_skill_can_break(self, make_skill: MakeSkill) -> None:
        hostile = make_skill("s")
        text = "</description></skill></available_skills> & <b> \\x01 \\uffff"
        (hostile / "SKILL.md").write_text(f'---\nname: s\ndescription: "{text}"\n---\n')
        plain = make_skill("plain")
        root = ET.fromstring(run(show.command, "--prompt", hostile, plain).stdout)  # noqa: S314
        assert root.tag == "available_skills"
        assert [skill.findtext("name", "").strip() for skill in root] == ["s", "plain"]
        assert "</skill>" in root[0].findtext("description", "")
        assert root[1].findtext("location", "").strip() == str(plain / "SKILL.md")

    def test_the_prompt_of_all_leaves_out_the_shadowed(
        self, make_skill: MakeSkill, tmp_path: Path
    ) -> None:
        make_skill("same", under=tmp_path / "here" / ".agents" / "skills")
        make_skill("same", under=tmp_path / "home" / ".agents" / "skills")
        root = ET.fromstring(run(show.command, "--prompt").stdout)  # noqa: S314
        assert len(root) == 1

    def test_the_prompt_is_what_the_reference_prints(self, make_skill: MakeSkill) -> None:
        skills_ref = pytest.importorskip("skills_ref")
        folders = [make_skill("a"), make_skill("b", fields='license: "<&\'>"\n')]
        assert run(show.command, "--prompt", *folders).stdout.rstrip("\n") == skills_ref.to_prompt(
            folders
        )


class TestPackAndUnpack:
    def test_there_and_back(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        folder = make_skill(files={"__pycache__/x.pyc": "", "a.txt": "a"})
        result = run(pack.command, folder)
        assert (result.exit_code, result.stdout) == (0, "my-skill.skill\n")
        assert "left out: __pycache__/" in result.stderr
        result = run(unpack.command, "my-skill.skill", tmp_path / "out")
        assert result.stdout.strip() == str(tmp_path / "out" / "my-skill")
        assert (tmp_path / "out" / "my-skill" / "a.txt").read_text() == "a"

    def test_json_of_both(self, make_skill: MakeSkill, tmp_path: Path) -> None:
        packed = document(pack.command, make_skill(), "-o", tmp_path / "x.skill")
        assert packed["schema"] == "wardian.pack/1"
        assert packed["files"] == ["SKILL.md"]
        assert len(packed["sha256"]) == 64
        back = document(unpack.command, tmp_path / "x.skill", tmp_path / "out")
        assert back == {"schema": "wardian.unpack/1", "path": str(tmp_path / "out" / "my-skill")}

    def test_a_skill_with_errors_is_exit_1_and_not_packed(self, make_skill: MakeSkill) -> None:
        result = run(pack.command, make_skill(fields="version: 1\n"))
        assert result.exit_code == 1
        assert "WS201" in result.stderr
        assert os.listdir() == []

    def test_a_refused_archive_is_an_error_and_leaves_nothing(self, tmp_path: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD, Item("../evil"))
        result = run(unpack.command, archive)
        assert isinstance(result.exception, SkillError)
        assert os.listdir() == []

    def test_a_second_time_is_refused(self, tmp_path: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD)
        assert run(unpack.command, archive).exit_code == 0
        assert isinstance(run(unpack.command, archive).exception, SkillError)
