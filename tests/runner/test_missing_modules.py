"""A module that a run missed: named with the package that brings it, as fact or as guess."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import needs
from tests.runner.hostile import Index, publish, serving, wheel
from tests.skill_folders import MakeSkill
from wardian.runner.absent import absent_from, advised
from wardian.runner.undeclared import own_sources

SYSTEM = {"PATH": "/usr/bin:/bin"}  # a Python without the packages of whoever runs the tests


@pytest.mark.parametrize(
    ("text", "option", "known"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "--with PyYAML", True),
        ("\x1b[35mModuleNotFoundError\x1b[0m: No module named 'cv2'", "--with opencv-python", True),
        ("ModuleNotFoundError: No module named 'some_thing.x'", "--with some_thing", False),
        ("/usr/bin/python3: No module named pytest", "--with pytest", True),
        ("No module named 'google.cloud'\n", "--with google-cloud", False),
        (
            "    from google.cloud import storage\nModuleNotFoundError: No module named 'google'",
            "--with google-cloud-storage",
            True,
        ),
        ("Error: Cannot find module 'marked'\nRequire stack:", "--with npm:marked", False),
        ("Cannot find module '@s/x/lib/y.js'", "--with npm:@s/x", False),
        ("Cannot find package 'chalk' imported from /work/a.mjs", "--with npm:chalk", False),
    ],
)
def test_the_package_that_brings_a_module(text: str, option: str, known: bool) -> None:
    found = absent_from(text.encode())
    assert found is not None
    assert (found.option, found.known) == (option, known)


@pytest.mark.parametrize(
    "text",
    ["No module named 'sqlite3'", "No module named '_thing'", "Cannot find module './x.js'",
     "Cannot find module '/work/x'", "Cannot find module 'node:x'", "No module named 'google'"],
)  # fmt: skip
def test_what_no_package_brings(text: str) -> None:
    found = absent_from(text.encode())
    assert found is not None
    assert not found.package


@pytest.mark.parametrize("text", ["", "no module", "Cannot find module ''"])
def test_nothing_is_missing(text: str) -> None:
    assert absent_from(text.encode()) is None


@pytest.mark.parametrize(
    "name", ["$(id)", "a;b", "../x", "a\x1b[2J", "--x", "-r/etc/passwd", "a'b", "a b", "x" * 300]
)
def test_what_a_guest_writes_never_becomes_an_option(name: str) -> None:
    for text in (f"No module named '{name}'", f"Cannot find module '{name}'"):
        found = absent_from(text.encode())
        package = "" if found is None else found.package
        assert package.replace("-", "").replace("_", "").replace(".", "").isalnum() or not package
        assert len(package) <= 214
    assert all(word.isalnum() for word in advised(f"pip install {name}".encode()))


def test_a_command_that_misses_a_module(wardian: Wardian) -> None:
    lines = {
        "python3 -c 'import docx'": "docx is in the package python-docx; add: --with python-docx",
        "python3 -c 'import no_such'": "in the package no_such (a guess); add: --with no_such",
        "python3 -c 'import docx' | cat": "--with python-docx",
    }
    for line, said in lines.items():
        done = wardian("exec", "--", "sh", "-c", line, env=SYSTEM)
        assert said in done.stderr, line
    done = wardian("exec", "--", "sh", "-c", "echo No module named yaml >&2; echo >&2 well")
    assert "PyYAML" not in done.stderr  # it went well, and that was not the last of it
    assert "--with" not in wardian("exec", "-q", "--", "python3", "-c", "import docx").stderr


@needs("node")
def test_node_misses_a_module(wardian: Wardian) -> None:
    done = wardian("exec", "--", "node", "-e", "require('marked')", env=SYSTEM)
    assert "marked may be in the package marked (a guess); add: --with npm:marked" in done.stderr
    done = wardian("exec", "--", "node", "./none.js", env=SYSTEM)
    assert "/work/none.js does not exist inside" in done.stderr


def test_the_document_has_the_hints(wardian: Wardian) -> None:
    done = wardian("exec", "--json", "--", "python3", "-c", "import docx", env=SYSTEM)
    hints = json.loads(done.stdout)["hints"]
    assert hints == ["docx is in the package python-docx; add: --with python-docx"]
    assert json.loads(wardian("exec", "--json", "--", "true").stdout)["hints"] == []


def test_modules_of_the_skill_are_followed(make_skill: MakeSkill, wardian: Wardian) -> None:
    """All packages that are missing are named at once, whichever file imports them."""
    skill = make_skill(
        {
            "scripts/a.py": "from lib import first\nimport helper",
            "scripts/lib/__init__.py": "",
            "scripts/lib/first.py": "from . import second\nimport docx",
            "scripts/lib/second.py": "import pptx\ntry:\n import orjson\nexcept ImportError: pass",
            "scripts/helper.py": "import fitz, json",
            "scripts/unused.py": "import zmq",
        }
    )
    assert sorted(own_sources(str(skill), "scripts/a.py")) == [
        "scripts/a.py",
        "scripts/helper.py",
        "scripts/lib/__init__.py",
        "scripts/lib/first.py",
        "scripts/lib/second.py",
    ]
    done = wardian("run", skill, "a.py", env=SYSTEM)
    assert "pptx is in the package python-pptx; add: --with python-pptx" in done.stderr
    said = done.stderr.partition("does not declare: ")[2]
    assert {"python-docx", "pymupdf"} <= {word.lower() for word in said.split()}, done.stderr
    assert "zmq" not in done.stderr
    assert "orjson" not in done.stderr


def test_a_module_of_ones_own_is_no_package(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "w/lib").mkdir(parents=True)
    (tmp_path / "w/lib/helper.py").write_text("print('here')")
    words = ("--work", tmp_path / "w", "--", "python3", "-c", "import helper")
    done = wardian("exec", *words, env=SYSTEM)
    assert "helper is not a package but /work/lib/helper.py" in done.stderr
    option = done.stderr.partition("add it to Python's path: ")[2].split()
    assert wardian("exec", *option, *words, env=SYSTEM).stdout == "here\n"


def test_the_remedy_cures(wardian: Wardian, index: Index) -> None:
    env = {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0", **SYSTEM}
    env["npm_config_registry"] = index.url
    for line in (("python3", "-c", "import friendly"), ("node", "-e", "require('padded')")):
        done = wardian("exec", "--", *line, env=env)
        option = done.stderr.partition("(a guess); add: ")[2].split()[:2]
        assert wardian("exec", *option, "--", *line, env=env).returncode == 0


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        publish(made, "padded")
        yield made


def test_a_script_that_a_command_line_names_is_read_too(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    """It copes with the absence by leaving, and prints nothing that names a module."""
    source = "try:\n    import nowhere_at_all\nexcept ImportError:\n    raise SystemExit(1)\n"
    skill = make_skill({"scripts/a.py": source, "scripts/other.py": "import not_this_one\n"})
    line = "python3 $SKILL_DIR/scripts/a.py"
    done = wardian("exec", "--skill", skill, "--", "sh", "-c", line)
    assert "does not declare: --with nowhere-at-all\n" in done.stderr.replace("_", "-")
    assert "nowhere" not in wardian("exec", "--skill", skill, "--", "false").stderr
