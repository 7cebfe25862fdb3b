"""Why packages can't be had: the reason first, in few words, and a remedy that works."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from tests.command import Wardian
from tests.runner.conftest import needs
from tests.runner.hostile import Index, publish, sdist, serving, wheel, without
from tests.skill_folders import MakeSkill
from wardian.runner.packages.reasons import reason_of, shown_lines
from wardian.runner.pythons import find

SYSTEM = "/usr/local/bin:/usr/bin:/bin"
USAGE = """npm error code EUSAGE
npm error
npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.
npm error
npm error Missing: a@1.0.0 from lock file
npm error
npm error Clean install a project
npm error
npm error Usage:
npm error npm ci
npm error
npm error Options:
npm error [--install-strategy <hoisted|nested|shallow|linked>] [--legacy-bundling]
npm error A complete log of this run can be found in: /x/debug-0.log
"""  # noqa: E501


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        made.add(*sdist("sourced", "sourced"))
        publish(made, "padded", {})
        yield made


@pytest.fixture
def settings(index: Index) -> dict[str, str]:
    url = {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0"}
    return url | {"npm_config_registry": index.url, "UV_DEFAULT_INDEX": f"{index.url}/simple"}


@pytest.mark.parametrize("tool", ["pip", "uv"])
@pytest.mark.parametrize(
    ("package", "said", "build"),
    [
        ("nowhere-at-all", "no index has nowhere-at-all", False),
        ("yaml", "the module yaml is in PyYAML: --with PyYAML", False),
        ("friendly==99", "there is no friendly==99", False),
        ("sourced", "sourced", True),
    ],
)
def test_no_such_package_is_not_one_that_must_be_built(
    tool: str, package: str, said: str, build: bool, wardian: Wardian, settings: dict[str, str]
) -> None:
    path = without("uv") if tool == "pip" else os.environ["PATH"]
    env = settings | {"PATH": path}
    done = wardian("exec", "--with", package, "--", "true", env=env)
    assert done.returncode == 125
    assert said in done.stderr
    assert ("--build" in done.stderr.replace("--no-build", "")) == build, done.stderr


@needs("npm")
def test_npms_reason_is_shown(wardian: Wardian, settings: dict[str, str]) -> None:
    done = wardian("exec", "--with", "npm:nowhere-at-all", "--", "true", env=settings)
    assert "npm could not prepare nowhere-at-all: no index has nowhere-at-all" in done.stderr
    done = wardian("exec", "--with", "npm:padded@99", "--", "true", env=settings)
    assert "there is no padded@99" in done.stderr
    assert "Log files" not in done.stderr


def test_usage_is_no_reason() -> None:
    lines = shown_lines("npm", USAGE)
    assert lines[0].startswith("`npm ci` can only install packages")
    assert lines[1:] == ["Missing: a@1.0.0 from lock file"]


@pytest.mark.parametrize(
    ("printed", "what", "cure"),
    [
        ("getaddrinfo EAI_AGAIN registry", "the package index can't be reached", ""),
        (
            "Because the current Python version (3.8.18) does not satisfy Python>=3.11 and",
            "it needs Python >=3.11",
            "use another Python: --python 3.11",
        ),
        (
            "hint: You require CPython 3.8 (`cp38`), but we only found wheels for `a` (v1) with"
            " the following Python implementation tags: `cp310`, `cp311`",
            "there is no wheel for Python 3.8",
            "use another Python: --python 3.10",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement a>2 (from b) (from"
            " versions: 1.0, 2.0)",
            "there is no a>2; the newest for this Python is 2.0",
            "",
        ),
        ("something else", "", ""),
    ],
)
def test_reasons(printed: str, what: str, cure: str) -> None:
    found = reason_of(printed)
    assert (found.what, found.cure) == (what, cure)


# Another Python


def test_a_python_that_is_not_here_names_what_helps(
    make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    block = "# /// script\n# requires-python = '>=3.99'\n# dependencies = ['friendly']\n# ///\n"
    skill = make_skill({"scripts/a.py": f"{block}import friendly; print(friendly.X)"})
    for words in (("run", skill, "a.py"), ("exec", "--skill", skill, "--", "true")):
        done = wardian(*words, env=settings)
        assert done.returncode == 127
        assert "no Python here is >=3.99" in done.stderr
        assert "uv python install '>=3.99'" in done.stderr
        assert "; or ignore the declared dependencies: --no-deps" in done.stderr
        assert "preparing" not in done.stderr
    version = done.stderr.partition("one that is here: --python ")[2].partition(";")[0]
    done = wardian("run", skill, "a.py", "--python", version, env=settings)
    assert done.stdout == "1\n", done.stderr
    done = wardian("run", skill, "a.py", "--no-deps", env=settings)
    assert "No module named 'friendly'" in done.stderr


def test_a_python_is_chosen_for_a_command(wardian: Wardian) -> None:
    found = find(">=3.8", {"PATH": SYSTEM}) or find(">=3.8", os.environ)
    assert found is not None
    version = ".".join(map(str, found.version[:2]))
    look = "import sys; print('%d.%d' % sys.version_info[:2])"
    for line in (("python3", "-c", look), ("sh", "-c", f'python -c "{look}"')):
        done = wardian("exec", "--python", version, "--", *line)
        assert done.stdout.strip() == version, done.stderr
    done = wardian("exec", "--python", "3.12; rm", "--", "true")
    assert (done.returncode, "is not a version" in done.stderr) == (125, True)


@needs("node")
def test_what_runs_typescript_is_missed_before_packages_are_prepared(
    make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    files = {"scripts/a.ts": "const a: number = 1; console.log(a)"}
    manifest = {"package.json": json.dumps({"dependencies": {"nowhere-at-all": "1"}})}
    done = wardian("run", make_skill(files | manifest), "a.ts", env=settings | {"PATH": SYSTEM})
    if "TypeScript" not in done.stderr:
        pytest.skip("a Node that runs TypeScript is installed")
    assert done.returncode == 127
    assert "preparing" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("requirements.txt", b"what is this\n"),
        ("requirements.txt", b"\xff\xfe"),
        ("requirements.txt", b"nowhere-at-all\n"),
        ("requirements.txt", "".join(f"package{i}\n" for i in range(5000)).encode()),
        ("package.json", b'{"dependencies": '),
        ("package.json", b'{"dependencies": ["x"]}'),
        ("scripts/b.py", b'# /// script\n# dependencies = ["x"\n# ///\n'),
    ],
)
def test_a_skill_whose_packages_can_not_be_had_runs_without_them(
    name: str, content: bytes, settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "print('here')"})
    (skill / name).write_bytes(content)
    command = ["--", "sh", "-c", "cd $SKILL_DIR && python3 scripts/a.py"]
    done = wardian("exec", "--skill", skill, *command, env=settings)
    assert done.returncode == 125
    assert "without the skill's declared packages: --no-deps" in done.stderr
    assert len(done.stderr) < 2000
    done = wardian("exec", "--skill", skill, "--no-deps", *command, env=settings)
    assert (done.returncode, done.stdout) == (0, "here\n")


def test_what_the_caller_adds_is_not_cured_by_leaving_out_what_the_skill_declares(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "pass"})
    done = wardian("exec", "--skill", skill, "--with", "nowhere-at-all", "--", "true", env=settings)
    assert done.returncode == 125
    assert "no index has nowhere-at-all" in done.stderr
    assert "--no-deps" not in done.stderr
