"""What authors overlook: each mistake is found where it is, and its absence is not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill
from wardian.skills import check


def reported(folder: Path) -> list[tuple[str, str, int | None]]:
    """(code, path in the skill, line) of every finding."""
    return [(one.code, one.path.removeprefix(f"{folder}/"), one.line) for one in check(folder)]


def test_a_good_skill_has_no_findings(make_skill: MakeSkill) -> None:
    folder = make_skill(
        body="Run `scripts/run.py`, see [more](references/more.md#part) and [it](https://x.example).\n",
        files={
            "scripts/run.py": "import json\nimport run_parts\n",
            "scripts/run_parts.py": "",
            "scripts/go.sh": "#!/bin/sh\necho hi\n",
            "references/more.md": "more",
            "assets/data.json": "{}",
        },
    )
    (folder / "scripts/go.sh").chmod(0o755)
    assert reported(folder) == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("See [it](references/no.md).", "WS301"),
        ("See ![it](assets/no.png).", "WS301"),
        ("See [it](./references/no%20space.md).", "WS301"),
        ("Run `scripts/no.py`.", "WS302"),
        ("```bash\npython scripts/no.py x\n```", "WS302"),
        ("See [it](references/" + "n" * 280 + ").", "WS301"),
        ("See [it](../other/SKILL.md).", "WS303"),
        ("See [it](references/../../up.md).", "WS303"),
    ],
)
def test_a_reference_to_nothing_is_found(make_skill: MakeSkill, body: str, code: str) -> None:
    line = 6 if body.startswith("```") else 5
    assert reported(make_skill(body=body + "\n")) == [(code, "SKILL.md", line)]


@pytest.mark.parametrize(
    "body",
    [
        "See [it](https://x.example/references/no.md).",
        "See [it](#below) and [mail](mailto:a@b.example) and [abs](/usr/share/x).",
        "Write `[text](references/no.md)` in Markdown.",
        "```markdown\n[text](references/no.md)\n```",
        "Call `~/other/scripts/no.py`, `https://x.example/scripts/no.py`, `my/scripts/no.py`.",
        "Use scripts/{name}.py or scripts/*.py or scripts/<name>.py.",
        "See [it](SKILL.md) and [folder](references/).",
        "See [it](references/{topic}.md).",
        "```python\nopen('assets/no.png')\n```",
        "```yaml\nrun: python scripts/no.py\n```",
        "```\nskill/\n  scripts/no.py\n```",
        "```bash\ncd my-project\npython scripts/no.py\n```",
        "```bash\npython scripts/yes.py -o assets/no.png > references/no.md\n```",
        "For example `references/no.md` or such as `assets/no.png`.",
        "Create the script at `scripts/no.sh`.",
        "See the `other` skill's `references/no.md`.",
        "Does the repository have `scripts/no.py`?",
    ],
)
def test_what_only_looks_like_a_reference_is_not(make_skill: MakeSkill, body: str) -> None:
    files = {"references/x.md": "", "scripts/yes.py": ""}
    assert reported(make_skill(body=body, files=files)) == []


def test_a_path_of_the_plugin_around_a_skill_is_there(
    make_skill: MakeSkill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / "scripts").mkdir()
    (tmp_path / "clone" / "scripts" / "shared.py").write_text("")
    body = "Run `scripts/shared.py`.\n"
    folder = make_skill(body=body, under=tmp_path / "clone" / "skills")
    assert reported(folder) == []
    (tmp_path / "clone" / ".git").rmdir()
    assert reported(folder) == [("WS302", "SKILL.md", 5)]


def test_what_does_not_parse_is_a_warning_with_the_python_it_was_checked_with(
    make_skill: MakeSkill,
) -> None:
    (one,) = check(make_skill(files={"scripts/a.py": "def f(:\n"}))
    assert one.severity == "warning"
    assert f"Python 3.{sys.version_info.minor}" in one.message
    assert "requires-python" in str(one.hint)


def test_a_reference_is_told_once(make_skill: MakeSkill) -> None:
    folder = make_skill(body="[a](no.md) [b](no.md)\n[c](no.md)\n")
    assert reported(folder) == [("WS301", "SKILL.md", 5)]


def test_hostile_instructions_are_read_in_no_time(make_skill: MakeSkill) -> None:
    for body in (
        "`" * 500_000,
        "[" * 500_000,
        "[a](" * 100_000,
        "scripts/" * 60_000,
        "](x" * 99_999,
    ):
        folder = make_skill("s" + str(abs(hash(body)) % 10**9), body=body)
        check(folder)


def test_no_instructions_are_found(make_skill: MakeSkill) -> None:
    assert reported(make_skill(body=" \n")) == [("WS304", "SKILL.md", 5)]


def test_long_instructions_are_mentioned(make_skill: MakeSkill) -> None:
    assert reported(make_skill(body="x\n" * 501)) == [("WS305", "SKILL.md", 5)]


@pytest.mark.parametrize(
    ("path", "content", "mode", "expected"),
    [
        ("scripts/a.lua", "print(1)\n", 0o644, [("WS401", "scripts/a.lua", 1)]),
        ("scripts/a", "#!/usr/bin/env cobol\n", 0o755, [("WS401", "scripts/a", 1)]),
        ("scripts/a.py", "#!/usr/bin/env python3\n", 0o644, [("WS402", "scripts/a.py", 1)]),
        ("scripts/a.py", "print(1)\n", 0o755, [("WS403", "scripts/a.py", 1)]),
        ("scripts/a.py", "print(1)\n", 0o644, []),
        ("scripts/a.py", "x = 1\ndef f(:\n", 0o644, [("WS404", "scripts/a.py", 2)]),
        ("core/a.py", "print 'two'\n", 0o644, [("WS404", "core/a.py", 1)]),
        ("a.json", '{"a": 1,}', 0o644, [("WS404", "a.json", 1)]),
        ("a.json", '{"a": 1}', 0o644, []),
        ("scripts/a.sh", "#!/bin/sh\nif true; then\n", 0o755, [("WS404", "scripts/a.sh", 3)]),
        ("scripts/a.sh", "#!/bin/sh\r\nexit\n", 0o755, [("WS405", "scripts/a.sh", 1)]),
        ("scripts/a.bash", "a=(1 2)\necho ${a[@]\n", 0o644, [("WS404", "scripts/a.bash", 2)]),
        ("scripts/a.bash", "a=(1 2)\n[[ x = y ]] || true\n", 0o644, []),
        ("scripts/tool", b"\x7fELF\0\0\0", 0o755, []),
        ("fonts/a.ttf", b"\0\1", 0o755, []),
        ("tsconfig.json", "{ // why\n}", 0o644, []),
        ("assets/a.json", '{"a": {{ value }}}', 0o644, []),
        ("templates/a.py", "x = {{ name }} {% if %}\n", 0o644, []),
        ("scripts/a.py", "#!/usr/bin/env python3.99\nnew syntax\n", 0o755, []),
        (
            "scripts/a.py",
            "# /// script\n# requires-python = '>=3.99'\n# ///\nnew syntax\n",
            0o644,
            [],
        ),
    ],
)
def test_a_script_that_would_not_start_is_found(
    make_skill: MakeSkill,
    path: str,
    content: str | bytes,
    mode: int,
    expected: list[tuple[str, str, int]],
) -> None:
    folder = make_skill(files={path: content})
    (folder / path).chmod(mode)
    assert reported(folder) == expected


def test_checking_a_shell_script_runs_nothing(make_skill: MakeSkill, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hostile = f"$(touch {mark})\ntouch {mark}\ntrap 'touch {mark}' EXIT\nset +n\ntouch {mark}\n"
    files: dict[str, str | bytes] = {
        f"scripts/a.{name}": f"{hostile}cat <<X\n$(touch {mark})\nX\n"
        for name in ("sh", "bash", "zsh")
    }
    files["scripts/b.py"] = f"open({str(mark)!r}, 'w')\n"
    check(make_skill(files=files))
    assert not mark.exists()


@pytest.mark.parametrize(
    "source",
    ["(" * 50_000, "-" * 50_000 + "1", "x = " + "[" * 5_000, "1+" * 50_000 + "1",
     "a" + ".b" * 50_000, "\0", "# coding: nonsense\n",
     "if 1:\n" + "\n".join(" " * n + "if 1:" for n in range(1, 120))],
    ids=range(8),
)  # fmt: skip
def test_python_made_to_break_the_parser_is_a_finding_or_nothing(
    make_skill: MakeSkill, source: str
) -> None:
    assert {code for code, _, _ in reported(make_skill(files={"scripts/a.py": source}))} <= {
        "WS404"
    }


class TestDependencies:
    def test_an_undeclared_import_is_found_with_its_distribution(
        self, make_skill: MakeSkill
    ) -> None:
        folder = make_skill(
            files={"scripts/a.py": "import json\nimport yaml\nfrom PIL import Image\n"}
        )
        found = check(folder)
        assert [(one.code, one.line) for one in found] == [("WS406", 2), ("WS406", 3)]
        assert "PyYAML" in str(found[0].hint)
        assert "pillow" in str(found[1].hint)

    @pytest.mark.parametrize(
        "files",
        [
            {"requirements.txt": "pyyaml>=6  # for reading\n"},
            {"scripts/requirements-dev.txt": "PyYAML==6.0.2 --hash=sha256:abc\n"},
            {"pyproject.toml": "[project]\ndependencies = ['PyYAML']\n"},
            {"scripts/yaml.py": ""},
            {"yaml/__init__.py": ""},
        ],
    )
    def test_a_declared_or_local_one_is_not(
        self, make_skill: MakeSkill, files: dict[str, str | bytes]
    ) -> None:
        assert reported(make_skill(files={"scripts/a.py": "import yaml\n", **files})) == []

    def test_an_inline_block_declares_for_its_script_alone(self, make_skill: MakeSkill) -> None:
        block = '# /// script\n# dependencies = ["pyyaml"]\n# ///\nimport yaml\n'
        folder = make_skill(files={"a.py": block, "b.py": "import yaml\n"})
        assert reported(folder) == [("WS406", "b.py", 1)]

    @pytest.mark.parametrize(
        "body", ["Run `pip install pyyaml`.", "uv pip install -U 'PyYAML>=6'", "uv add pyyaml"]
    )
    def test_one_named_in_prose_is_mentioned(self, make_skill: MakeSkill, body: str) -> None:
        folder = make_skill(body=body, files={"scripts/a.py": "import yaml\n"})
        assert [(one.code, one.severity) for one in check(folder)] == [("WS407", "info")]

    @pytest.mark.parametrize(
        ("source", "count"),
        [
            ("try:\n    import yaml\nexcept ImportError:\n    yaml = None\n", 0),
            ("try:\n    import yaml\nexcept ImportError:\n    sys.exit('no yaml')\n", 1),
            ("if TYPE_CHECKING:\n    import yaml\n", 0),
            ("def f():\n    import yaml\n", 1),
            ("from . import yaml\n", 0),
            ("import os.path, yaml.nodes\n", 1),
            ("with x:\n  for y in z:\n    import yaml\n", 1),
        ],
    )
    def test_an_import_that_may_fail_is_no_need(
        self, make_skill: MakeSkill, source: str, count: int
    ) -> None:
        assert len(reported(make_skill(files={"a.py": source}))) == count

    def test_it_is_told_once_for_a_skill(self, make_skill: MakeSkill) -> None:
        files: dict[str, str | bytes] = {f"scripts/{n}.py": "import yaml\n" for n in "abc"}
        assert reported(make_skill(files=files)) == [("WS406", "scripts/a.py", 1)]

    @pytest.mark.parametrize(
        ("path", "content"),
        [
            ("a.py", "# /// script\n# dependencies = [\n# ///\n"),
            ("a.py", "# /// script\n# dependencies = 'x'\n# ///\n"),
            ("a.py", "# /// script\n# x = 1\n# ///\n\n# /// script\n# y = 1\n# ///\n"),
            ("pyproject.toml", "[project\n"),
            ("requirements.txt", b"caf\xe9"),
        ],
    )
    def test_a_declaration_that_cant_be_read_is_found(
        self, make_skill: MakeSkill, path: str, content: str | bytes
    ) -> None:
        assert [code for code, _, _ in reported(make_skill(files={path: content}))] == ["WS408"]


def test_links_and_special_files_are_found(make_skill: MakeSkill) -> None:
    folder = make_skill()
    (folder / "l").symlink_to("/etc/passwd")
    os.mkfifo(folder / "p")
    assert reported(folder) == [("WS412", "l", None), ("WS410", "p", None)]


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../x", "a/../../x", "/nowhere", "second", "{parent}", ".."]
)
def test_a_link_out_of_the_skill_is_an_error(make_skill: MakeSkill, target: str) -> None:
    folder = make_skill()
    (folder / "a").mkdir()
    (folder / "a/x").write_text("x")
    (folder / "l").symlink_to(target.replace("{parent}", str(folder.parent)))
    (folder / "z").symlink_to("l/x" if target == "second" else "a/x")
    if target == "second":
        (folder / "second").symlink_to("/etc")
    found = {one.path.rpartition("/")[2]: (one.code, one.severity) for one in check(folder)}
    assert found["l"] == ("WS412", "error")


@pytest.mark.parametrize(
    "place",
    ["node_modules/l", "a/node_modules/b/c/l", ".git/l", ".venv/bin/python", "__pycache__/l.pyc",
     ".idea/l", "l~", "a/x.pyc", ".DS_Store"],
)  # fmt: skip
def test_a_link_out_is_an_error_also_where_nothing_else_is_looked_at(
    make_skill: MakeSkill, place: str
) -> None:
    folder = make_skill()
    link = folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    (link.parent / "inner").symlink_to(folder / "SKILL.md")
    link.symlink_to("/etc/passwd")
    assert [one for one in reported(folder) if one[0] != "WS409"] == [("WS412", place, None)]
    link.unlink()
    link.symlink_to("inner")
    assert not [one for one in check(folder) if one.severity == "error"]


@pytest.mark.parametrize("target", ["SKILL.md", "a", "a/../SKILL.md", "a/gone", "./a/x", "{own}"])
def test_a_link_that_stays_inside_is_a_warning(make_skill: MakeSkill, target: str) -> None:
    folder = make_skill()
    (folder / "a").mkdir()
    (folder / "a/x").write_text("x")
    (folder / "l").symlink_to(target.replace("{own}", str(folder / "SKILL.md")))
    found = [(one.code, one.severity) for one in check(folder)]
    assert found == [("WS409", "warning")]


def test_scripts_behind_a_linked_folder_are_not_looked_at(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.py").write_text("def f(:\n")
    folder = make_skill()
    (folder / "scripts").symlink_to(tmp_path / "out")
    assert reported(folder) == [("WS412", "scripts", None)]


def test_what_tools_leave_behind_is_not_looked_at(make_skill: MakeSkill) -> None:
    folder = make_skill(
        files={f"{junk}/a.py": "def f(:\n" for junk in ("node_modules", ".git", "__pycache__")}
    )
    assert reported(folder) == []


def test_too_many_files_are_told_and_do_not_take_for_ever(make_skill: MakeSkill) -> None:
    folder = make_skill()
    (folder / "many").mkdir()
    for number in range(10_001):
        (folder / "many" / f"{number}.txt").touch()
    assert [code for code, _, _ in reported(folder)] == ["WS411"]


def test_a_public_name_is_never_hidden_by_a_module_of_its_name() -> None:
    """Importing a submodule sets it as an attribute of the package, over whatever was there."""
    import wardian.skills as package

    modules = {path.stem for path in Path(package.__file__ or "").parent.glob("*.py")}
    assert modules & set(package.__all__) == set()
