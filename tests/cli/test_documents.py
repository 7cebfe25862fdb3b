"""Documentation is tested: what it shows runs, what exists is described, links lead somewhere."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import COMMAND, Wardian, environment
from tools import quotes
from tools.terminal import shown
from wardian.cli.commands import COMMANDS
from wardian.cli.options import EXEC_OPTIONS
from wardian.errors import WardianError
from wardian.sandbox.doctor.advice import advice, landlock_advice, surroundings
from wardian.sandbox.run.protections import ALWAYS, DEGRADABLE

ROOT = Path(__file__).parents[2]
PAGES = quotes.pages()
FENCE = re.compile(r"^```(sh|python|console) run\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    pytest.param(page, kind, code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (kind, code) in enumerate(FENCE.findall(page.read_text()), 1)
]


def test_there_are_snippets_to_run() -> None:
    assert len(SNIPPETS) >= 10


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A directory that looks as a clone of the repository does, and `wardian` on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "wardian").write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    (programs / "wardian").chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    quotes.prepare(here)
    return here, environment(PATH=f"{programs}:{os.environ['PATH']}")


@pytest.mark.parametrize(("page", "kind", "code"), SNIPPETS)
def test_a_snippet_that_is_marked_as_runnable_runs(
    page: Path, kind: str, code: str, clone: tuple[Path, dict[str, str]]
) -> None:
    here, env = clone
    if kind == "console":
        for quote in quotes.quotes(code):
            real = shown(quote.command, here, env)
            assert quotes.matches(quote.output, real), f"`make pictures` updates this:\n{real}"
        return
    command = ["sh", "-euc", code] if kind == "sh" else [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=here, capture_output=True, text=True, timeout=120, check=False, env=env
    )
    assert done.returncode == 0, done.stderr


def test_the_readme_can_be_followed_from_top_to_bottom(
    clone: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    here, env = clone
    env |= {"XDG_STATE_HOME": str(tmp_path / "state")}  # what one step shares, the next remembers
    for kind, code in FENCE.findall((ROOT / "README.md").read_text()):
        commands = [quote.command for quote in quotes.quotes(code)] if kind == "console" else [code]
        for command in commands if kind != "python" else []:
            done = subprocess.run(
                ["sh", "-euc", command], cwd=here, capture_output=True, text=True, timeout=120,
                check=False, env=env,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}\n{done.stderr}"


def checks() -> list[str]:
    """The commands of the README's comparison that check what it says of wardian."""
    rows: list[str] = re.findall(
        r"\| `(wardian [^`|]*)` \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    return rows


@pytest.mark.parametrize("command", checks())
def test_what_the_readme_says_of_wardian_can_be_checked(
    command: str, clone: tuple[Path, dict[str, str]]
) -> None:
    here, env = clone
    done = subprocess.run(
        ["sh", "-c", command], cwd=here, capture_output=True, text=True, timeout=120, check=False,
        env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_has_such_checks() -> None:
    assert len(checks()) >= 6


@pytest.mark.parametrize(
    ("quoted", "real", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\n", "a\nb\nc\n", True),
        ("...\nd\n", "a\nd\ne\n", False),
        ("took ... s\n", "took 0.3 s\n", True),
        ("took ... s\n", "took\n0.3 s\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_quoted_output_is_compared_line_by_line(quoted: str, real: str, same: bool) -> None:
    assert quotes.matches(quoted, real) is same


def symptoms() -> list[str]:
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    table = text[: text.index("## ")]
    return [
        message
        for row in re.findall(r"^\| (.*?) \| \[", table, re.MULTILINE)
        for message in re.findall(r"`([^`]+)`", row)
        if message != "No such file or directory"  # the guest's own words
    ]


def explanations() -> list[str]:
    """Every reason that `wardian doctor` and errors give, on hosts of all kinds."""
    here = surroundings("/opt/wardian-launch")
    closed = {
        "user/max_user_namespaces": "0",
        "kernel/unprivileged_userns_clone": "0",
        "kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    hosts = [
        here._replace(uid=1000, sysctls=sysctls, container=container, kernel=kernel)
        for sysctls in ({}, *({name: value} for name, value in closed.items()))
        for container in (None, "docker")
        for kernel in ((5, 10), (6, 12))
    ]
    walls, errors = ("namespace.user", "mount", "proc"), (errno.EPERM, errno.ENOSPC, errno.ENOSYS)
    said = [advice(wall, number, host) for wall in walls for number in errors for host in hosts]
    said += [landlock_advice(abi, host) for abi in (0, 3) for host in hosts]
    return [each.why for each in said]


@pytest.mark.parametrize("message", symptoms())
def test_troubleshooting_quotes_messages_that_wardian_prints(message: str) -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "core").rglob("*.c")]
    printed = any(message in said for said in explanations())
    assert printed or any(message in path.read_text() for path in sources)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_a_page(name: str) -> None:
    assert any(f"wardian {name}" in page.read_text() for page in PAGES[1:])


def test_every_option_of_exec_is_described() -> None:
    text = (ROOT / "docs" / "exec.md").read_text()
    for option in EXEC_OPTIONS:
        if option.name != "help":
            assert f"`--{option.name}" in text, option.name


def test_every_wall_that_can_be_given_up_is_named() -> None:
    text = (ROOT / "docs" / "policy.md").read_text()
    assert [name for name in DEGRADABLE if f"`{name}`" not in text] == []
    assert not set(ALWAYS) & set(DEGRADABLE)


def test_the_readme_names_the_two_ways_to_try_it() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_every_error_that_the_api_page_names_exists() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    known = {WardianError.__name__, *(cls.__name__ for cls in _below(WardianError))}
    named = set(re.findall(r"`([A-Z]\w+(?:Error|Failed))`", text))
    assert named <= known
    assert named >= {"UsageError", "PolicyError", "SandboxError", "WallError", "ShareError"}


def _below(cls: type) -> list[type]:
    return [each for child in cls.__subclasses__() for each in (child, *_below(child))]


# The result document


def schema() -> dict[str, object]:
    text = (ROOT / "docs" / "reference" / "result.md").read_text()
    found = re.search(r"^```json schema\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    document: dict[str, object] = json.loads(found.group(1))
    return document


def conforms(value: object, wanted: dict[str, object], at: str = "$") -> None:
    """As much of JSON Schema as that page uses."""
    if "const" in wanted:
        assert value == wanted["const"], at
    if "enum" in wanted:
        assert value in wanted["enum"], f"{at}: {value!r}"  # type: ignore[operator]
    if "type" in wanted:
        kinds = wanted["type"] if isinstance(wanted["type"], list) else [wanted["type"]]
        assert any(_is(value, kind) for kind in kinds), f"{at}: {value!r} is not {kinds}"
    if isinstance(value, dict):
        assert set(wanted.get("required", ())) <= set(value), at  # type: ignore[call-overload]
        properties = wanted.get("properties", {})
        for name, item in value.items():
            other = wanted.get("additionalProperties")
            sub = properties.get(name, other)  # type: ignore[attr-defined]
            assert sub is not None, f"{at}.{name} is not described"
            conforms(item, sub, f"{at}.{name}")
    if isinstance(value, list):
        for i, item in enumerate(value):
            conforms(item, wanted.get("items", {}), f"{at}[{i}]")  # type: ignore[arg-type]


def _is(value: object, kind: object) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    return isinstance(value, (int, float)) if kind == "number" else isinstance(value, kinds[kind])  # type: ignore[index]


@pytest.mark.parametrize(
    "args",
    [
        ("--", "true"),
        ("--", "sh", "-c", "exit 3"),
        ("--", "sh", "-c", "kill -9 $$"),
        ("--", "printf", r"\377"),
        ("--", "no-such-program"),
        ("--", "/tmp"),
        ("--time", "200ms", "--", "sleep", "60"),
        ("--output", "1k", "--", "yes"),
        ("--memory", "none", "--net", "host", "--degrade", "notify", "--", "true"),
        ("--backend", "host", "--", "true"),
        ("--", "/usr/bin/python3", "-c", "import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)"),
    ],
    ids=" ".join,
)
def test_result_documents_are_as_the_schema_says(wardian: Wardian, args: tuple[str, ...]) -> None:
    conforms(json.loads(wardian("exec", "--json", *args).stdout), schema())


def test_the_demo_holds_and_works(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "hostile.py", tmp_path)
    done = subprocess.run(
        [*COMMAND, "exec", "--read", f"{tmp_path}:/demo", "--processes", "64", "--memory", "256M",
         "--", "/usr/bin/python3", "/demo/hostile.py"],
        capture_output=True, text=True, timeout=120, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "GOT OUT" not in done.stdout
    assert "BROKEN" not in done.stdout
