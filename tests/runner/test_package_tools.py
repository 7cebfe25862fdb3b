"""pip, npm, uv and their like inside a run: refused at once and with a remedy, or of use."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import COMMAND, Wardian
from tests.runner.conftest import index_settings, needs
from tests.runner.hostile import Index, publish, serving, wheel
from tests.skill_folders import MakeSkill
from wardian.runner.guest_indexes import rules_for
from wardian.sandbox.refusals.installs import package_request

CODE = "X = 1\ndef main(): print('tool')\n"
TOOL = "[console_scripts]\nfriendly-tool = friendly:main\n"
BLOCK = "# /// script\n# dependencies = [\n#   'friendly>=0.5',\n# ]\n# ///\nimport friendly"
PUBLIC = {
    "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "UV_NO_CONFIG": "1",
    "PIP_INDEX_URL": "https://pypi.org/simple", "npm_config_registry": "https://registry.npmjs.org/",
}  # fmt: skip
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
AT_ONCE_S = 20.0  # on a busy machine; the retries of pip take 72 s


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": CODE}, entry_points=TOOL))
        made.add(*wheel("other", {"other.py": "X = 2"}))
        publish(made, "padded", {"cli.js": "#!/usr/bin/env node\nconsole.log('bin')"}, bin="cli.js")
        publish(made, "second", {"cli.js": "#!/usr/bin/env node\nconsole.log('2nd')"}, bin="cli.js")
        yield made


@pytest.fixture
def settings(index: Index) -> dict[str, str]:
    url = {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0"}
    return url | {"npm_config_registry": index.url, "UV_DEFAULT_INDEX": f"{index.url}/simple"}


# Without a network


@pytest.mark.parametrize(
    ("program", "line", "hint"),
    [
        ("pip", "pip install six==1.17 humanize", "--with six==1.17 --with humanize"),
        ("pip3", "pip3 install -q humanize", "--with humanize"),
        ("python3", "python3 -m pip install humanize", "--with humanize"),
        ("uv", "uv venv -q && uv pip install humanize", "--with humanize"),
        ("uv", "uv run --with humanize python -V", "--with humanize"),
        ("uvx", "uvx ruff --version", "--with ruff"),
        ("npm", "npm install left-pad", "--with npm:left-pad"),
        ("npx", "npx -y cowsay hi", "--with npm:cowsay"),
    ],
)
def test_an_install_is_refused_at_once_and_names_the_option(
    program: str, line: str, hint: str, wardian: Wardian
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    start = time.monotonic()
    done = wardian("exec", "--", "sh", "-c", line, env=PUBLIC)
    assert time.monotonic() - start < AT_ONCE_S
    assert done.returncode != 0
    (said,) = [one for one in done.stderr.splitlines() if " wants " in one]
    node = "--net registry.npmjs.org"
    nets = node if "npm:" in hint else "--net pypi.org --net files.pythonhosted.org"
    assert f"{hint} (or allow the index: {nets})" in said


@needs("pip")
def test_a_run_that_has_names_lacks_a_rule(wardian: Wardian) -> None:
    words = ("--net", "a.example.com", "--", "pip", "install", "humanize")
    done = wardian("exec", *words, env=PUBLIC)
    (said,) = [one for one in done.stderr.splitlines() if " wants " in one]
    assert "pip wants humanize from pypi.org, which no rule allows; to install it before" in said
    assert said.endswith("(or allow the index: --net pypi.org --net files.pythonhosted.org)")


def test_rules_are_those_of_the_user_s_own_indexes() -> None:
    own = {"PIP_INDEX_URL": "https://me:secret@pip.example.com:8443/simple"}
    assert rules_for("pip", "python", PUBLIC | own) == ("pip.example.com:8443",)
    uv = {"UV_DEFAULT_INDEX": "https://uv.example.com/simple", "UV_INDEX": "https://b.example.com"}
    assert set(rules_for("uvx", "python", PUBLIC | uv)) == {"uv.example.com", "b.example.com"}
    npm = {"npm_config_registry": "https://npm.example.com/"}
    assert rules_for("npm", "node", PUBLIC | npm) == ("npm.example.com",)
    for url in ("http://127.0.0.1:3141/", "http://localhost/", "http://[::1]/", "http://devpi/"):
        assert rules_for("pip", "python", PUBLIC | {"PIP_INDEX_URL": url}) == ()


def test_the_hint_comes_while_the_run_goes_on(environment: dict[str, str], tmp_path: Path) -> None:
    line = "python3 -m pip install humanize; sleep 60"
    process = subprocess.Popen(
        [*COMMAND, "exec", "--", "sh", "-c", line],
        cwd=tmp_path, env=environment | {"PIP_NO_INDEX": "0"}, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        seen = next(one for one in process.stderr if one.startswith("wardian: "))
        assert "pip wants humanize from pypi.org" in seen
        assert process.poll() is None
    finally:
        process.terminate()
        process.communicate()


def test_what_is_there_already_asks_no_index(wardian: Wardian, settings: dict[str, str]) -> None:
    line = "pip install friendly && python -m pip install 'friendly>0.1' && pip3 install friendly"
    done = wardian("exec", "--with", "friendly", "--", "sh", "-c", line, env=settings)
    assert done.returncode == 0, done.stderr
    assert "wants" not in done.stderr


def test_json_keeps_the_hint_off_standard_output(wardian: Wardian) -> None:
    line = ("--json", "--", "python3", "-m", "pip", "install", "humanize")
    done = wardian("exec", *line, env={"PIP_NO_INDEX": "0"})
    assert done.stdout.startswith("{")
    assert "--with humanize" in done.stderr
    quiet = wardian("exec", "--quiet", *line[1:], env={"PIP_NO_INDEX": "0"})
    assert "wardian:" not in quiet.stderr


# With one


@needs("pip")
def test_pip_installs_into_the_run(wardian: Wardian, settings: dict[str, str]) -> None:
    line = "pip install friendly && python3 -c 'import friendly; print(friendly.X)'; friendly-tool"
    done = wardian("exec", "--net", "host", "--", "sh", "-c", line, env=settings)
    assert done.stdout.splitlines()[-2:] == ["1", "tool"], done.stderr
    again = wardian("exec", "--", "python3", "-c", "import friendly", env=settings)
    assert again.returncode == 1


def test_pip_installs_into_prepared_packages_for_this_run(
    wardian: Wardian, settings: dict[str, str], tmp_path: Path
) -> None:
    """Nothing that it changes is changed for another run: neither a new module nor an old one."""
    line = "pip install -q other && python -c 'import friendly, other; print(other.X)';"
    line += " cd $VIRTUAL_ENV/lib/python3*/site-packages && echo 'X = 9' > friendly.py"
    line += " && echo evil > evil.pth && ln -sf /bin/sh ../../../bin/python3"
    words = ("--with", "friendly", "--")
    done = wardian("exec", "--net", "host", *words, "sh", "-c", line, env=settings)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
    cache = tmp_path / "home/cache"
    assert not [*cache.rglob("evil.pth"), *cache.rglob("environments/*/lib/*/*/other.py")]
    look = "python3 -c 'import friendly; print(friendly.X)'; python3 -c 'import other'"
    for more in ((), ("--net", "host")):
        done = wardian("exec", *more, *words, "sh", "-c", look, env=settings)
        assert done.stdout == "1\n", done.stderr
        assert "No module named 'other'" in done.stderr


def test_pip_installs_into_the_active_venv_for_this_run(
    wardian: Wardian, settings: dict[str, str], tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
    before = sorted(venv.rglob("*"))
    env = settings | {"PATH": f"{venv}/bin:{SYSTEM}"}
    line = "pip install -q friendly && python -c 'import friendly; print(friendly.X)';"
    line += f" friendly-tool; echo > {venv}/bin/evil"
    done = wardian("exec", "--net", "host", "--", "sh", "-c", line, env=env)
    assert done.stdout == "1\ntool\n", done.stderr
    assert sorted(venv.rglob("*")) == before
    done = wardian("exec", "--", "sh", "-c", f"echo > {venv}/bin/evil", env=env)
    assert done.returncode != 0  # without the network there is nothing to install
    assert sorted(venv.rglob("*")) == before


@needs("npm")
@pytest.mark.parametrize("beside", [(), ("--with", "npm:second")])
def test_npm_installs_into_the_run(
    beside: tuple[str, ...], wardian: Wardian, settings: dict[str, str]
) -> None:
    line = "npm install padded && node -p 'require(\"padded\")()'; npm i -g padded; padded;"
    line += " ls; npx -y second"
    done = wardian("exec", "--net", "host", *beside, "--", "sh", "-c", line, env=settings)
    said = [one for one in done.stdout.splitlines() if one and not one.startswith("added")]
    made = ["node_modules", "package-lock.json", "package.json"]
    assert said == ["padded", "bin", *made, "2nd"], done.stdout + done.stderr


@needs("npm")
def test_npm_installs_nothing_that_is_prepared(
    wardian: Wardian, settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text('{"dependencies": {"padded": ">=1.0.0"}}')
    given = ("exec", "--with", "npm:padded", "--work", tmp_path, "--", "sh", "-c")
    for line in ("npm install", "npm ci --silent", "npm install padded", "npm i -g padded@1"):
        done = wardian(*given, f"{line} && node -p 'require(\"padded\")()'", env=settings)
        assert done.stdout == "padded\n", done.stderr
        assert "already in this run: padded\n" in done.stderr
    for line in ("npm install padded@2", "npm install padded second", "npm i --prefix /tmp padded"):
        done = wardian(*given, line, env=settings)
        assert done.returncode != 0
        assert "already" not in done.stderr


def test_an_index_with_a_password_is_given_without_it(
    wardian: Wardian, settings: dict[str, str]
) -> None:
    url = settings["PIP_INDEX_URL"].replace("://", "://user:secret@")
    line = ("--net", "host", "--", "sh", "-c", "env; cat /proc/self/environ")
    done = wardian("exec", *line, env=settings | {"PIP_INDEX_URL": url})
    assert "PIP_INDEX_URL=http" in done.stdout
    assert "secret" not in done.stdout


# uv run, where the packages are prepared


@pytest.mark.parametrize("path", [SYSTEM, None])
def test_uv_runs_what_is_prepared(
    path: str | None, make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    """With the host's own uv, and without one."""
    skill = make_skill({"scripts/a.py": f"{BLOCK}\nprint(friendly.X)"})
    env = settings | ({"PATH": path} if path is not None else {})
    lines = [
        "uv run $SKILL_DIR/scripts/a.py",
        "uv run --no-project --with friendly -- python3 -c 'import friendly; print(1)'",
        "uv run -q --script $SKILL_DIR/scripts/a.py",
        "uv run --with 'friendly>0.1' python $SKILL_DIR/scripts/a.py",
        "uv pip install friendly; uv pip install --system 'friendly<9'; echo 1",
        "uvx --from friendly friendly-tool | sed s/tool/1/",
        "uv tool run -q --from 'friendly>0.1' friendly-tool | sed s/tool/1/",
    ]
    line = " && ".join(lines)
    done = wardian("exec", "--skill", skill, "--", "sh", "-ec", line, env=env)
    assert done.stdout.split() == ["1"] * len(lines), done.stderr
    more = ["uv run --with other python -V", "uv run --with 'friendly>9' python -V", "uvx other"]
    for line in more:
        done = wardian("exec", "--skill", skill, "--", "sh", "-c", line, env=env)
        assert done.returncode != 0
        assert "--with" in done.stderr
        assert not done.stdout


# What is read from a command line


@pytest.mark.parametrize(
    ("line", "tool", "packages", "others"),
    [
        ("pip install a b==1 'c[x]>=2,<3'", "pip", "a b==1 c[x]>=2,<3", False),
        ("/usr/bin/python3 /usr/bin/pip3 install -r req.txt a", "pip", "a", True),
        ("/usr/bin/python3.11 /usr/bin/pip3.11 install a", "pip", "a", False),
        ("python3.11 -Im pip --quiet install --target x a", "pip", "a", False),
        ("pip install .", "pip", "", True),
        ("pip install git+https://h/x /etc/passwd -e .", "pip", "", True),
        ("uv pip install --index-url http://h a", "uv", "a", False),
        ("uv add a", "uv", "a", False),
        ("uv run --with a --with=b s.py c", "uv", "a b", False),
        ("uvx --from a tool b", "uvx", "a", False),
        ("node /usr/bin/npm install -g @s/a@^1 b", "npm", "@s/a@^1 b", False),
        ("npm ci", "npm", "", True),
        ("npx -y a b c", "npx", "a", False),
        ("pnpm add a", "pnpm", "a", False),
        ("yarn add a", "yarn", "a", False),
        ("yarn dlx a b", "yarn", "a", False),
    ],
)
def test_what_a_tool_was_asked_for(line: str, tool: str, packages: str, others: bool) -> None:
    found = package_request([shlex.split(line)])
    assert found is not None
    assert (found.tool, " ".join(found.packages), found.others) == (tool, packages, others)


@pytest.mark.parametrize(
    "line",
    ["curl http://h", "pip list", "npm test", "python3 -c 'pip install a'", "python3 x.py install",
     "pipe install a", "", "pip", "uv --version", "git clone x"],
)  # fmt: skip
def test_no_tool_that_installs(line: str) -> None:
    assert package_request([shlex.split(line)]) is None


@pytest.mark.parametrize(
    "word", ["a\x1b[31m", "a;rm -rf ~", "$(id)", "`id`", "a\nb", "--with", "x" * 500, "a'b", "é"]
)
def test_a_name_that_is_none_is_never_repeated(word: str) -> None:
    for command in (["pip", "install", word], ["npm", "install", word], ["npx", word]):
        found = package_request([command])
        assert found is None or found.packages == ()


@pytest.mark.long
@pytest.mark.skipif("WARDIAN_TEST_INDEX" not in os.environ, reason="packages may not be fetched")
def test_real_tools_of_a_real_index(wardian: Wardian) -> None:
    line = "python3 -m pip install -q humanize && python3 -c 'import humanize; print(1)';"
    line += "npm install left-pad >&2 && node -p 'require(\"left-pad\")(5, 3)'"
    done = wardian(
        "exec", "--net", "host", "--", "sh", "-c", line, env=index_settings(), timeout=600
    )
    assert done.stdout == "1\n  5\n", done.stderr
