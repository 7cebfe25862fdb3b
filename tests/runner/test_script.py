"""Which file a name means, and what runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill
from wardian.errors import SkillError, UsageError
from wardian.runner.interpreters import Missing, Runner, runner_for
from wardian.runner.script import Wish, choose, wish_of
from wardian.skills.scripts import interpreter_of

HEADS = [
    b"", b"print(1)\n", b"#!/usr/bin/env python3\n", b"#!/usr/bin/python3\n",
    b"#!/usr/bin/env python\n", b"#!/usr/bin/env python3.12\n", b"#! /bin/sh\n",
    b"#!/bin/sh -e\n", b"#!/bin/bash\nset -e", b"#!/bin/dash\n",
    b"#!/usr/bin/env -S node --no-warnings\n", b"#!/usr/bin/env node\n",
    b"#!/usr/bin/env -S uv run --script\n", b"#!/usr/bin/env\n", b"#!\n",
    b"#!/usr/bin/env python3\r\nimport os", b"#!/usr/bin/env A=b python3\n",
    b"#!/opt/x/node22\n", b"#!/usr/bin/fish\n", b"#!/usr/bin/perl -w\n", b"#!/usr/bin/Rscript\n",
    b"\x7fELF\x02", b"[[ -n $x ]]\n", b"import os\n", b"const a = require('fs')\n",
    b"#!'unbalanced\n", b"#!/usr/bin/env 'python3'\n", b"#!/usr/bin/env \"node\"\n",
    b"#!\xff\xfe\n", b"import { x } from 'npm:y'\n", b"#!/usr/bin/env # python3\n",
]  # fmt: skip
NAMES = [
    "a.py",
    "a.sh",
    "a.bash",
    "a.js",
    "a.mjs",
    "a.cjs",
    "a.ts",
    "a",
    "a.rb",
    "a.PY",
    "a.php",
    "a.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_short_way_decides_as_the_long_one(name: str) -> None:
    for head in HEADS:
        found = interpreter_of(name, head)
        expected = Wish(found.name, found.version, found.options) if found else None
        assert wish_of(name, head) == expected, (name, head)


@pytest.mark.parametrize(
    "given", ["scripts/go.py", "go.py", "./scripts/go.py", "/skill/scripts/go.py"]
)
def test_a_script_is_found_with_and_without_its_folder(make_skill: MakeSkill, given: str) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    assert choose(str(skill), given).path == "scripts/go.py"


def test_a_dotted_name_means_a_module(make_skill: MakeSkill) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    assert choose(str(skill), "scripts.go").module == "scripts.go"
    assert choose(str(skill), "go.py").module is None


@pytest.mark.parametrize(("given", "near"), [("goo.py", "scripts/go.py"), ("go", "scripts/go.py")])
def test_a_near_miss_is_suggested(make_skill: MakeSkill, given: str, near: str) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    with pytest.raises(UsageError) as caught:
        choose(str(skill), given)
    assert caught.value.hint == f"did you mean {near}?"


def test_what_there_is_is_told_when_nothing_comes_near(make_skill: MakeSkill) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    with pytest.raises(UsageError) as caught:
        choose(str(skill), "zzzzzz")
    assert caught.value.hint == "it has: scripts/go.py"


@pytest.mark.parametrize("given", ["../outside.py", "/etc/passwd", "scripts/../../x", "a\0b"])
def test_a_path_out_of_the_skill_is_refused(make_skill: MakeSkill, given: str) -> None:
    with pytest.raises(UsageError):
        choose(str(make_skill({"scripts/go.py": "pass"})), given)


def test_a_link_out_of_the_skill_is_refused_and_one_inside_is_not(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    (tmp_path / "outside.py").write_text("pass")
    (skill / "scripts/out.py").symlink_to(tmp_path / "outside.py")
    (skill / "scripts/in.py").symlink_to("go.py")
    with pytest.raises(SkillError, match="leads out of the skill"):
        choose(str(skill), "out.py")
    assert choose(str(skill), "in.py").wish.name == "python"


def test_a_pipe_called_like_a_script_does_not_hang(make_skill: MakeSkill) -> None:
    skill = make_skill({"scripts/go.py": "pass"})
    os.mkfifo(skill / "scripts/pipe.py")
    with pytest.raises(UsageError):
        choose(str(skill), "pipe.py")


def test_a_file_that_nothing_runs_is_told(make_skill: MakeSkill) -> None:
    with pytest.raises(SkillError, match="no interpreter is known"):
        choose(str(make_skill({"notes.txt": "hello"})), "notes.txt")


def test_a_missing_interpreter_comes_with_the_way_to_get_it(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path)}
    for name in ("node", "ruby", "r", "zsh", "deno", "bun", "perl"):
        missing = runner_for(Wish(name), "a", nothing)
        assert isinstance(missing, Missing)
        assert "is not installed" in missing.why
        assert missing.hint.startswith("install it: ")


def test_shebang_options_are_passed_on() -> None:
    assert runner_for(Wish("bash", None, ("-eu",)), "a.sh", os.environ) == Runner(
        ("bash", "-eu"), "bash"
    )


def test_typescript_without_a_node_that_runs_it_is_told(tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v20.1.0\n")
    node.chmod(0o755)
    env = {"PATH": str(tmp_path), "NVM_DIR": str(tmp_path)}
    assert isinstance(runner_for(Wish("node", ">=22.18"), "a.ts", env), Missing)
    node.write_text("#!/bin/sh\necho v22.7.0\n")
    found = runner_for(Wish("node", ">=22.18"), "a.ts", env)
    assert isinstance(found, Runner)
    assert "--experimental-strip-types" in found.argv
    node.write_text("#!/bin/sh\necho v22.18.0\n")
    assert runner_for(Wish("node", ">=22.18"), "a.ts", env) == Runner((str(node),), "node")
