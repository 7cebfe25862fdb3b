"""Which interpreter a script asks for: by shebang, then extension, then content."""

from __future__ import annotations

import pytest

from tests.skill_folders import MakeSkill
from wardian.skills.dependencies import (
    DeclarationError,
    declared_by,
    inline_metadata,
    prose_requirements,
    requirement_name,
    requirements_txt,
)
from wardian.skills.scripts import Interpreter, interpreter_of, scripts_in


@pytest.mark.parametrize(
    ("line", "name", "version", "options"),
    [
        ("#!/usr/bin/env python3", "python", "3", ()),
        ("#!/usr/bin/python3.12 -u", "python", "3.12", ("-u",)),
        ("#! /usr/bin/env -S python3 -I -u", "python", "3", ("-I", "-u")),
        ("#!/usr/bin/env -S uv run --script", "python", None, ()),
        ("#!/usr/bin/env PYTHONUTF8=1 python3", "python", "3", ()),
        ("#!/opt/venv/bin/pypy3", "python", "3", ()),
        ("#!/bin/sh", "sh", None, ()),
        ("#!/bin/dash -e", "sh", None, ("-e",)),
        ("#!/bin/bash\r", "bash", None, ()),
        ("#!/usr/bin/zsh -f", "zsh", None, ("-f",)),
        ("#!/usr/bin/env node", "node", None, ()),
        ("#!/usr/bin/nodejs", "node", None, ()),
        ("#!/usr/bin/env -S deno run --allow-read", "deno", None, ("run", "--allow-read")),
        ("#!/usr/bin/env bun", "bun", None, ()),
        ("#!/usr/bin/ruby3.1", "ruby", "3.1", ()),
        ("#!/usr/bin/perl -w", "perl", None, ("-w",)),
        ("#!/usr/bin/env Rscript", "r", None, ()),
    ],
)
def test_the_shebang_decides(
    line: str, name: str, version: str | None, options: tuple[str, ...]
) -> None:
    for path in ("run", "run.py", "run.sh"):
        found = interpreter_of(path, line.encode() + b"\nx\n")
        assert found is not None
        assert (found.name, found.version, found.options) == (name, version, options)
        assert found.evidence == "shebang"


@pytest.mark.parametrize(
    "line", ["#!", "#!/usr/bin/env", "#!/usr/bin/env 'x", "#!/bin/awk -f", "#!x y z"]
)
def test_an_unknown_shebang_is_unknown(line: str) -> None:
    assert interpreter_of("run", line.encode() + b"\n") is None


@pytest.mark.parametrize(
    ("path", "head", "name"),
    [
        ("a.py", b"", "python"), ("a.PY", b"", "python"), ("a.sh", b"echo", "sh"),
        ("a.sh", b"set -euo pipefail\n", "bash"), ("a.sh", b"[[ a = b ]]\n", "bash"),
        ("a.sh", b"a=(1 2)\n", "bash"), ("a.bash", b"", "bash"), ("a.zsh", b"", "zsh"),
        ("a.js", b"", "node"), ("a.mjs", b"", "node"), ("a.cjs", b"", "node"),
        ("a.ts", b"const x: number = 1", "node"), ("a.ts", b"Deno.cwd()", "deno"),
        ("a.ts", b"import x from 'npm:y'", "deno"), ("a.ts", b"Bun.serve({})", "bun"),
        ("a.rb", b"", "ruby"), ("a.pl", b"", "perl"), ("a.R", b"", "r"),
    ],
)  # fmt: skip
def test_then_the_extension(path: str, head: bytes, name: str) -> None:
    found = interpreter_of(path, head)
    assert found is not None
    assert (found.name, found.evidence) == (name, "extension")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"\x7fELF\2\1\1", "elf"),
        (b"# hi\nimport os\n", "python"),
        (b"from os import path\n", "python"),
        (b"const fs = require('fs')\n", "node"),
        (b"import fs from 'fs'\n", "node"),
        (b"set -e\necho hi\n", "sh"),
        (b"set -e\n[[ a = b ]]\n", "bash"),
        (b"just words\n", None),
        (b"import os\n\0", None),
    ],
)
def test_then_the_content(head: bytes, name: str | None) -> None:
    found = interpreter_of("run", head)
    assert (found and found.name) == name


def test_typescript_wishes_for_a_node_that_runs_it() -> None:
    assert interpreter_of("a.ts", b"") == Interpreter("node", "extension", ">=22.18")


def test_scripts_are_found_wherever_they_lie(make_skill: MakeSkill) -> None:
    folder = make_skill(
        files={
            "run.py": "if __name__ == '__main__': pass\n",
            "core/lib.py": "def f(): pass\n",
            "templates/x.js": "",
            "deep/er/and/deeper/go.sh": "",
            "bin/tool": b"\x7fELF",
            "references/notes.md": "#!/bin/sh\n",
            "LICENSE": "words\n",
            "assets/data.bin": b"\0",
        }
    )
    found = {script.path: script.entry for script in scripts_in(folder)}
    assert found == {
        "run.py": True,
        "core/lib.py": False,
        "templates/x.js": True,
        "deep/er/and/deeper/go.sh": True,
        "bin/tool": True,
    }


class TestDeclarations:
    def test_an_inline_block_is_read(self) -> None:
        source = (
            "#!/usr/bin/env python3\n# /// script\n# requires-python = '>=3.12'\n#\n"
            "# dependencies = [\n#   'rich>=13',\n# ]\n# ///\nimport rich\n"
        )
        found = inline_metadata(source)
        assert found is not None
        assert (found.dependencies, found.requires_python, found.line) == (
            ("rich>=13",),
            ">=3.12",
            2,
        )
        assert inline_metadata(source.replace("\n", "\r\n")) == found

    @pytest.mark.parametrize(
        "source", ["", "# /// scripts\n# ///\n", "# /// script\nx\n# ///\n", "# /// script\n# a\n"]
    )
    def test_what_is_no_block_is_none(self, source: str) -> None:
        assert inline_metadata(source) is None

    def test_a_hostile_block_is_read_in_no_time(self) -> None:
        many = "# /// script\n" * 50_000
        assert inline_metadata(many) is None
        assert inline_metadata(many + "#x\n# ///\n") is None
        with pytest.raises(DeclarationError):
            inline_metadata(many + "# ///\n#\n" + many + "# x")

    def test_a_broken_block_is_an_error_with_its_line(self) -> None:
        with pytest.raises(DeclarationError) as caught:
            inline_metadata("\n\n# /// script\n# = \n# ///\n")
        assert caught.value.line == 3

    def test_requirements_are_read_without_their_options(self) -> None:
        text = (
            "# comment\n-r other.txt\n--index-url x\nrequests[socks]>=2 ; python_version<'4'\n"
            "a==1 \\\n  --hash=sha256:00\nb @ https://x.example/b.whl#egg=b\n\n-e .\n"
        )
        found = requirements_txt(text)
        assert [requirement_name(one) for one in found] == ["requests", "a", "b"]

    def test_prose_names_packages(self) -> None:
        text = (
            "Run `pip install pypdf python-docx>=1`, or `uv run --with rich x.py`.\n"
            "pip3 install -r requirements.txt --upgrade 'x[y]'\n"
        )
        assert prose_requirements(text) == (
            "pypdf", "python-docx>=1", "rich", "requirements.txt", "x[y]",
        )  # fmt: skip

    def test_node_needs_and_the_lock_are_found(self, make_skill: MakeSkill) -> None:
        folder = make_skill(
            files={
                "package.json": '{"dependencies": {"docx": "^9"}}',
                "package-lock.json": "{}",
                "sub/package.json": '{"dependencies": {"other": "1"}}',
            }
        )
        found = declared_by(folder)
        assert (found.node, found.node_file, found.node_lock) == (
            {"docx": "^9"},
            "package.json",
            "package-lock.json",
        )
