"""``wardian exec --skill`` and ``--with``: command lines as agents compose them from SKILL.md."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import index_settings, needs
from tests.runner.hostile import Index, publish, serving, wheel
from tests.skill_folders import MakeSkill
from wardian import Policy, Sandbox
from wardian.errors import NothingMatched, SkillError, UsageError
from wardian.runner.needs import Needs
from wardian.runner.packages import PreparationError
from wardian.runner.requested import requested
from wardian.runner.whole_skill import needs_of_skill
from wardian.sandbox.backends import fitted

WHERE = "import sys, friendly; print(friendly.X, sys.prefix)"
TOOL = "[console_scripts]\nfriendly-tool = friendly:main\n"
CODE = "X = 1\ndef main(): print('tool')\n"


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": CODE}, entry_points=TOOL))
        made.add(*wheel("other", {"other.py": "X = 2"}))
        publish(made, "padded", {"cli.js": "#!/usr/bin/env node\nconsole.log('bin')"}, bin="cli.js")
        yield made


@pytest.fixture
def settings(index: Index) -> dict[str, str]:
    url = {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0"}
    return url | {"npm_config_registry": index.url}


def test_a_skill_is_there_with_its_names(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill({"scripts/a.py": "import sys; print(open(sys.argv[1]).read().upper())"})
    line = "echo hello > in; cd $SKILL_DIR && python scripts/a.py /work/in | tee /work/out"
    done = wardian("exec", "--skill", skill, "--", "sh", "-c", line)
    assert (done.stdout.strip(), done.returncode) == ("HELLO", 0), done.stderr
    assert "wrote 2 files" in done.stderr
    line = "echo $SKILL_DIR $CLAUDE_SKILL_DIR $CLAUDE_PLUGIN_ROOT $PWD; touch /skill/new"
    done = wardian("exec", "--skill", skill, "--", "sh", "-c", line)
    assert done.stdout == "/skill /skill /skill /work\n"
    assert not (skill / "new").exists()


def test_packages_of_skill_and_caller_come_first_in_shells_too(
    make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    skill = make_skill({"requirements.txt": "friendly\n", "scripts/a.py": WHERE})
    line = (
        'python -c "$1"; python3 -c "$1"; bash -lc "python /skill/scripts/a.py"; friendly-tool;'
        " python -c 'import other; print(other.X)'; pip install friendly; python -m pip list"
    )
    words = ("--skill", skill, "--with", "other", "--", "sh", "-c", line, "sh", WHERE)
    done = wardian("exec", *words, env=settings)
    lines = done.stdout.splitlines()
    assert len(set(lines[:3])) == 1, done.stderr
    assert "/environments/" in lines[0]
    assert lines[3:5] == ["tool", "2"]
    assert "already satisfied: friendly" in lines[5]
    assert [line.split()[0] for line in lines if line.startswith(("friendly ", "other "))] == [
        "friendly",
        "other",
    ]
    direct = wardian("exec", "--with", "friendly", "--", "python3", "-c", WHERE, env=settings)
    assert "/environments/" in direct.stdout, direct.stderr
    # Without them, the environment is the caller's.
    bare = ("exec", "--no-deps", "--skill", skill, "--", "python3", "-c", "import friendly")
    assert "No module named 'friendly'" in wardian(*bare, env=settings).stderr
    named = ("--no-deps", "--with", "friendly", "--skill", skill)
    assert wardian("exec", *named, "--", "python3", "-c", WHERE, env=settings).returncode == 0


@needs("npm")
def test_packages_of_both_kinds_in_one_run(
    make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    both = ("--with", "friendly", "--with", "npm:padded@^1")
    line = (
        "node -p 'require(\"padded\")()'; padded; npx --no-install padded;"
        " echo 'import p from \"padded\"; console.log(p())' > a.mjs; node a.mjs;"
        " python -c 'import friendly; print(friendly.X)'"
    )
    done = wardian("exec", *both, "--", "sh", "-c", line, env=settings)
    assert done.stdout.split() == ["padded", "bin", "bin", "padded", "1"], done.stderr
    # The same for the scripts of `run`, whatever they are written in.
    start = "subprocess.run(['node', '-p', 'require(\"padded\")()'], check=True)"
    skill = make_skill(
        {
            "scripts/a.py": f"import friendly, subprocess; {start}",
            "scripts/b.mjs": "import p from 'padded'; import { execFileSync } from 'child_process';"
            "console.log(p(), '' + execFileSync('python', ['-c', 'import friendly; print(1)']))",
        }
    )
    for script in ("a.py", "b.mjs"):
        done = wardian("run", skill, script, *both, env=settings)
        assert (done.returncode, done.stdout[:6]) == (0, "padded"), done.stderr


def test_files_are_kept_and_the_document_names_the_skill(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": "echo"})
    kept, records = tmp_path / "kept", tmp_path / "records"
    line = ("--", "sh", "-c", "echo 1 > made; echo 2 >> /state/count; wc -l < /state/count")
    words = ("--skill", skill, "--out", kept, "--state", "s", "--record", records, "--json")
    done = wardian("exec", *words, *line)
    document = json.loads(done.stdout)
    assert (document["skill"]["name"], document["files"][0]["path"]) == ("demo", "made")
    assert (kept / "made").read_text() == "1\n"
    assert "script" not in document
    assert wardian("exec", "--skill", skill, "--state", "s", *line).stdout.strip() == "2"
    (found,) = json.loads(wardian("log", "--dir", records, "--json").stdout)["runs"]
    assert found["kind"] == "exec"
    assert wardian("exec", "--out", tmp_path / "more", "--", "touch", "a").returncode == 0
    assert (tmp_path / "more/a").exists()
    done = wardian("exec", "--state", "s", "--", "true")
    assert (done.returncode, "--skill SKILL" in done.stderr) == (125, True)


def test_trace_and_learn_take_the_same_words(
    make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    skill = make_skill({"requirements.txt": "friendly", "scripts/a.py": WHERE})
    command = ("--skill", skill, "--", "sh", "-c", "python /skill/scripts/a.py")
    done = wardian("trace", "-v", *command, env=settings)
    assert "/environments/" in done.stdout, done.stderr
    assert "friendly.cpython" in done.stderr
    done = wardian("learn", *command, env=settings)
    assert done.returncode == 0, done.stderr
    for name in ("trace", "learn"):
        done = wardian(name, "--skill", skill, skill, "a.py")
        assert (done.returncode == 0, "--skill needs a command" in done.stderr) == (False, True)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["bubblewrap", "gvisor", "host"])
def test_other_backends_find_the_same(
    backend: str, make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    skill = make_skill({"requirements.txt": "friendly", "scripts/a.py": "import friendly"})
    if backend != "host" and shutil.which({"gvisor": "runsc"}.get(backend, "bwrap")) is None:
        pytest.skip(f"{backend} is not installed")
    given_up = fitted(backend, Policy.default()).degrade
    degrade = [word for name in given_up for word in ("--degrade", name)]
    words = ("--skill", skill, "--backend", backend, *degrade, "--json")
    line = 'python3 "$SKILL_DIR/scripts/a.py" && friendly-tool'
    done = wardian("exec", *words, "--", "sh", "-c", line, env=settings)
    assert json.loads(done.stdout).get("stdout") == "tool\n", done.stdout + done.stderr


# A whole skill


def declared(skill: Path) -> dict[str, Needs]:
    found = needs_of_skill(str(skill))
    return {"node" if one.package_json is not None else "python": one for one in found}


def test_the_declarations_of_a_whole_skill_are_united(make_skill: MakeSkill) -> None:
    block = '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["inline"]\n# ///\n'
    skill = make_skill(
        {
            "requirements.txt": "root\n",
            "scripts/requirements.txt": "below\nroot\n",
            "scripts/deep/pyproject.toml": '[project]\nname = "x"\ndependencies = ["deep"]\n',
            "scripts/deep/a.py": "print(1)",
            "tools/b.py": block,
            "templates/app/requirements.txt": "never",
            "templates/app/main.py": "print(1)",
            "package.json": json.dumps({"dependencies": {"a": "1", "b": "1"}}),
            "scripts/package.json": json.dumps({"dependencies": {"b": "2", "c": "3"}}),
            "templates/app/package.json": json.dumps({"dependencies": {"never": "1"}}),
            "templates/app/index.js": "",
        }
    )
    found = declared(skill)
    assert set(found["python"].python) == {"root", "below", "deep", "inline"}
    assert found["python"].requires_python == ">=3.10"
    manifest = json.loads(found["node"].package_json or b"")
    assert manifest == {"dependencies": {"a": "1", "b": "1", "c": "3"}}


def test_a_lock_serves_where_there_is_one_package_json(make_skill: MakeSkill) -> None:
    about = {"package.json": '{"dependencies": {"a": "1"}}', "package-lock.json": "{}"}
    assert declared(make_skill(about))["node"].package_lock == b"{}"
    assert declared(make_skill({"scripts/a.py": "import os"}, "none")) == {}


# Names, and nothing but names


@pytest.mark.parametrize(
    "word",
    ["npm:../x", "npm:file:../x", "npm:x@file:../y", "npm:x@git+https://h/x", "npm:x@github:u/x",
     "npm:/etc", "npm:", "npm:x@", "npm:@x", "npm:x y", "npm:x@http://h/x.tgz", "npm:x@./y.tgz",
     "npm:.bin", "npm:x/../../y", "git+https://h/x", "./x", "/etc/passwd", "-r/etc/passwd",
     "--index-url=http://h", "file:///x", "x @ file:///x", "x @ git+https://h/x", "", " "],
)  # fmt: skip
def test_with_names_packages_and_nothing_else(word: str, wardian: Wardian) -> None:
    """Neither a path, an option nor another protocol reaches a package manager."""
    done = wardian("exec", "--with", word, "--", "true")
    assert done.returncode == 125, done.stderr
    assert done.stderr.startswith("error: ")
    assert "preparing" not in done.stderr


def test_names_are_told_apart() -> None:
    words = ["a", "npm:b", "npm:@s/c@^1 || 2", "d[x]>=1", "npm:e@npm:f@1"]
    found = requested(words)
    assert found.python == ("a", "d[x]>=1")
    assert found.node == (("@s/c", "^1 || 2"), ("b", "*"), ("e", "npm:f@1"))


# python, where there is only python3


def test_python_is_there_where_the_host_has_python3_alone(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    if os.path.exists("/usr/bin/python") or not os.path.exists("/usr/bin/python3"):
        pytest.skip("this host has python, or no python3")
    skill = make_skill({"scripts/a.sh": "python -c 'import sys; print(sys.executable)'"})
    env = {"PATH": "/usr/bin:/bin"}
    for words in (("run", skill, "a.sh"), ("exec", "--skill", skill, "sh", "/skill/scripts/a.sh")):
        assert wardian(*words, env=env).stdout == "/usr/bin/python3\n"


# In Python


def test_a_sandbox_is_created_with_a_skill_and_packages(
    make_skill: MakeSkill,
    settings: dict[str, str],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (environment | settings).items():
        monkeypatch.setenv(name, value)
    skill = make_skill({"requirements.txt": "friendly"})
    lines: list[str] = []
    with Sandbox.create(skill=skill, packages=["other"], on_progress=lines.append) as sandbox:
        for command in (
            [
                "python3",
                "-c",
                "import friendly, other; print(open('/skill/requirements.txt').read())",
            ],
            ["sh", "-c", "python -c 'import friendly, other; print(\"friendly\")'"],
        ):
            assert sandbox.run(command).check().text.strip() == "friendly"
    assert any("preparing" in line for line in lines)
    with pytest.raises(UsageError, match="is not a package"):
        Sandbox.create(packages=["npm:../x"])
    with pytest.raises(UsageError, match="list of names"):
        Sandbox.create(packages="other")
    with pytest.raises(SkillError):
        Sandbox.create(skill="/etc")
    with pytest.raises(NothingMatched):
        Sandbox.create(skill="no-such-skill")
    with pytest.raises(PreparationError):
        Sandbox.create(packages=["no-such-package"])


def test_an_archive_is_there_as_long_as_its_sandbox(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    packed = tmp_path / "demo.skill"
    wardian("pack", make_skill({"scripts/a.py": "print(5)"}), "-o", packed)
    with Sandbox.create(skill=packed) as sandbox:
        (share,) = [one for one in sandbox.policy.shares if one.at == "/skill"]
        assert sandbox.run(["python3", "/skill/scripts/a.py"]).text == "5\n"
    assert not os.path.exists(share.path)


@pytest.mark.long
@pytest.mark.skipif("WARDIAN_TEST_INDEX" not in os.environ, reason="packages may not be fetched")
def test_real_packages_of_a_real_index(wardian: Wardian) -> None:
    line = "python -c 'import numpy; print(numpy.ones(3).sum())';"
    line += "node -p 'require(\"left-pad\")(5, 3)'"
    words = ("--with", "numpy", "--with", "npm:left-pad", "--", "sh", "-c", line)
    done = wardian("exec", *words, env=index_settings(), timeout=600)
    assert done.stdout == "3.0\n  5\n", done.stderr


@pytest.mark.parametrize("line", ["python3 scripts/a.py", "sh -c 'python3 scripts/a.py'"])
def test_a_path_that_counts_from_the_skill_is_pointed_out(
    line: str, make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill, words = make_skill({"scripts/a.py": "print('here')"}), shlex.split(line)
    done = wardian("exec", "--skill", skill, "--", *words)
    assert done.returncode == 2
    assert "wardian: scripts/a.py is in the skill; to start there: --cwd /skill\n" in done.stderr
    done = wardian("exec", "--skill", skill, "--cwd", "/skill", "--", *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "here\n", "")
    document = json.loads(wardian("exec", "--json", "--skill", skill, "--", *words).stdout)
    assert document["hints"] == ["scripts/a.py is in the skill; to start there: --cwd /skill"]


def test_other_failures_of_a_script_are_not_put_down_to_the_directory(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "open('nothing')"})
    line = "cd $SKILL_DIR && python3 scripts/a.py"
    for words in (["sh", "-c", line], ["sh", "-c", "exit 1", "scripts/a.py"]):
        done = wardian("exec", "--skill", skill, "--", *words)
        assert done.returncode == 1
        assert "is in the skill" not in done.stderr


@pytest.mark.parametrize("line", ["sudo apt-get install -y poppler-utils", "apt-get install x"])
def test_system_packages_are_the_hosts(line: str, wardian: Wardian) -> None:
    if shutil.which("apt-get") is None and not line.startswith("sudo"):
        pytest.skip("there is no apt-get")
    done = wardian("exec", "--", "sh", "-c", line)
    assert done.returncode != 0
    assert "install the package on the host, whose /usr every run can read" in done.stderr


@needs("npm")
@pytest.mark.parametrize(
    "words",
    ["padded", "-y padded@latest", "padded@1", "--yes padded@1.0.0", "-p padded@latest padded",
     "--package=padded@latest padded"],
)  # fmt: skip
def test_npx_starts_what_is_prepared_by_any_version_that_it_is(
    words: str, settings: dict[str, str], wardian: Wardian
) -> None:
    done = wardian("exec", "--with", "npm:padded", "--", "sh", "-c", f"npx {words}", env=settings)
    assert (done.returncode, done.stdout) == (0, "bin\n"), done.stderr


@needs("npm")
def test_npx_asks_for_a_version_that_is_not_here(
    settings: dict[str, str], wardian: Wardian
) -> None:
    line = "npx -y padded@99"
    done = wardian("exec", "--with", "npm:padded", "--", "sh", "-c", line, env=settings)
    assert done.returncode != 0
    assert "wants padded@99" in done.stderr


def test_uvx_names_what_to_add(settings: dict[str, str], wardian: Wardian) -> None:
    path = {"PATH": "/usr/bin:/bin", **settings}
    done = wardian("exec", "--with", "friendly", "--", "uvx", "other", env=path)
    assert done.returncode == 1
    assert "uvx: this run is without other; add it: --with other\n" in done.stderr


@pytest.mark.parametrize("packages", ["friendly", [3], [None]])
def test_packages_that_are_no_list_of_names_are_refused(packages: list[str]) -> None:
    with pytest.raises(UsageError, match="a list of names"):
        Sandbox.create(packages=packages)


def test_a_python_that_is_not_here_is_named_with_one_that_is(wardian: Wardian) -> None:
    done = wardian("exec", "--json", "--python", "3.2", "--", "true")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_code"]) == (127, 127)
    assert document["detail"] == "no Python here is 3.2"
    assert "or use one that is here: --python 3." in document["hints"][0]


def test_a_folder_of_skills_names_one_of_them(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": "print('here')"})
    done = wardian("exec", "--skill", skill.parent, "--", "true")
    assert done.returncode == 125
    assert f"1 skill lies below it; name one, such as {skill}\n" in done.stderr
    empty = tmp_path / "nothing"
    empty.mkdir()
    done = wardian("exec", "--skill", empty, "--", "true")
    assert "a skill is a folder with a SKILL.md in it" in done.stderr
