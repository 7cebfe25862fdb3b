"""Packages that try to act while they are prepared, with uv and with pip, against a real index."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import environment, make_skill, needs, wardian
from tests.runner.hostile import Index, sdist, serving, wheel, without
from tests.skill_folders import MakeSkill
from wardian.errors import UsageError
from wardian.runner.packages.requirements import checked, lines_of

__all__ = ["environment", "make_skill", "wardian"]
TOOLS = [pytest.param("pip", id="pip"), pytest.param("uv", id="uv", marks=needs("uv"))]
PLAIN = "import friendly; print('friendly', friendly.X)\n"


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        yield made


@pytest.fixture(params=TOOLS)
def settings(request: pytest.FixtureRequest, index: Index) -> dict[str, str]:
    return for_tool(request.param, f"{index.url}/simple")


def for_tool(tool: str, url: str) -> dict[str, str]:
    found = {"PIP_INDEX_URL": url, "PIP_NO_INDEX": "0"}
    return found | ({"PATH": without("uv")} if tool == "pip" else {})


def cache(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "home/cache/wardian").iterdir()
    return found


def test_a_wheel_of_the_index_is_prepared(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    done = wardian(
        "run", make_skill({"scripts/a.py": PLAIN}), "a.py", "--with", "friendly", env=settings
    )
    assert done.stdout == "friendly 1\n", done.stderr


# What may be asked for

H = "http://127.0.0.1:1"
REFUSED = [
    "x @ https://h/x.tar.gz?x=.whl", "x @ https://h/x.tar.gz#.whl", "x @ https://h/x.tar.gz;x=.whl",
    "x @ https://h/x.tar.gz#egg=x-1-py3-none-any.whl", "x @ https://h/x-1-py3-none-any%2ewhl",
    "x @ https://h/x-1-py3-none-any.WHL", "x @ https://h/x.tar.gz?/x-1-py3-none-any.whl",
    "x @ https://h/x-1.tar.gz%3f.whl", "x @ https://h/x.tar.gz%23.whl", "x @ https://h/x.tar.gz\\x.whl",
    "x @ https://h/a b.whl", "x @ https://me:pw@h/x-1-py3-none-any.whl",
    "x @ http://h/x-1-py3-none-any.whl", "x @ http://127.0.0.1.evil.example/x-1-py3-none-any.whl",
    "x @ http://127.0.0.1@evil.example/x-1-py3-none-any.whl", "x @ https://h/y-1-py3-none-any.whl",
    "x @ https://h/.whl", "x @ https://h/", "x @ https:///x-1-py3-none-any.whl",
    "x @ file:///x-1-py3-none-any.whl", "x @ FILE:///etc", "x@file:/etc/x-1-py3-none-any.whl",
    "x @ git+https://h/x.git", "x @ git+ssh://git@h/x", "x @ hg+https://h/x", "x @ ssh://h/x",
    "x @ ./x-1-py3-none-any.whl", "x @ /x-1-py3-none-any.whl", "x @ //h/x-1-py3-none-any.whl",
    "https://h/x-1-py3-none-any.whl", "git+https://h/x", "./x", "/x", "~/x", "x.whl/", "file:///x",
    "-r other.txt", "-rother.txt", "-e .", "--index-url=https://h", "--index-url https://h",
    "-i https://h", "--find-links /x", "-f /x", "--extra-index-url=https://h", "--pre",
    "--no-binary :all:", "--trusted-host h", "--config-settings=a=b", "x --global-option=y",
    "x --index-url=https://h", "x --no-binary", "x --config-settings=a=b", "x\n--index-url=https://h",
    "x\r-r y", "x\0", "x \u2028-r y", "x; os_name == 'a' --no-binary x", "", " ", "${HOME}", "x @ ${URL}",
    "x @ https://h/x-1-py3-none-any.whl\thttps://i/x.tar.gz", "x @ https://h/x-1-py3-none-any.whl --no-binary",
    "x[../y]", "x==1 y==2", "x @", "@ https://h/x", "x" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_requirement_is_refused_by_parsing(text: str) -> None:
    with pytest.raises(UsageError, match="not a package"):
        checked([text])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("requests", "requests"),
        ("Pillow >= 10, <12", "Pillow<12,>=10"),
        ("requests[socks]~=2.0; python_version < '4'", 'requests[socks]~=2.0 ; python_version < "4"'),
        ("x @ https://h/p/x-1-py3-none-any.whl", "x @ https://h/p/x-1-py3-none-any.whl"),
        (f"x @ {H}/x-1.0-py3-none-any.whl ; os_name=='posix'", f'x @ {H}/x-1.0-py3-none-any.whl ; os_name == "posix"'),
        ("x @ https://h/x-1+cpu-py3-none-any.whl", "x @ https://h/x-1+cpu-py3-none-any.whl"),
        ("x @ https://h/x-1%2Bcpu-py3-none-any.whl", "x @ https://h/x-1%2Bcpu-py3-none-any.whl"),
    ],
)  # fmt: skip
def test_requirements_are_written_anew_from_their_parts(text: str, same: str) -> None:
    assert checked([text]) == (same,)


def test_requirements_txt_is_read_as_pip_reads_it() -> None:
    text = "\ufeffone>=1  # c\n# x\n\ntwo \\\n  ==2 \\\n --hash=sha256:ab\nthree#4\n-r x\n"
    assert lines_of(text) == ["one>=1", "two    ==2   --hash=sha256:ab", "three#4", "-r x"]


SOURCE = "evil @ {url}/files/evil-1.0.tar.gz"


@pytest.mark.parametrize(
    "text",
    [SOURCE, SOURCE + "?x=.whl", "{url}/files/evil-1.0.tar.gz", "--index-url={url}/simple"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["PEP 723", "requirements.txt", "pyproject.toml", "--with"])
def test_no_declaration_brings_source_code_to_run(
    where: str,
    text: str,
    index: Index,
    make_skill: MakeSkill,
    wardian: Wardian,
) -> None:
    """The skill's lines are refused before anything is started, wherever they stand."""
    index.add(*sdist("evil", index.url))
    text = text.format(url=index.url)
    settings = for_tool("pip", f"{index.url}/simple")
    files = {"scripts/a.py": "print('started')"}
    options: list[str] = []
    if where == "PEP 723":
        files["scripts/a.py"] = f"# /// script\n# dependencies = [{json.dumps(text)}]\n# ///\n"
    elif where == "requirements.txt":
        files["requirements.txt"] = f"\ufefffriendly\n{text}\n"
    elif where == "pyproject.toml":
        files["pyproject.toml"] = f"[project]\ndependencies = ['friendly', {json.dumps(text)}]\n"
    else:
        options = [f"--with={text}"]
    done = wardian("run", make_skill(files), "a.py", *options, env=settings)
    assert (done.returncode, done.stdout, index.asked) == (125, "", []), done.stderr
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


# What a wheel's own metadata asks for


@pytest.mark.parametrize(
    "requirement",
    [
        "evil @ {url}/files/evil-1.0.tar.gz",
        "evil @ {url}/files/evil-1.0.tar.gz?x=.whl",
        "evil @ {url}/files/evil-1.0.tar.gz#egg=evil-1.0-py3-none-any.whl",
        "evil @ git+{url}/evil.git",
        "evil @ file:///etc",
        "evil",
    ],
)
def test_what_a_wheel_requires_is_not_built_either(
    requirement: str,
    settings: dict[str, str],
    index: Index,
    make_skill: MakeSkill,
    wardian: Wardian,
    tmp_path: Path,
) -> None:
    name, data = sdist("evil", index.url)
    index.add(name, data)
    index.add(*wheel("lure", {"lure.py": ""}, (requirement.format(url=index.url),)))
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "lure", env=settings)
    assert (done.returncode, done.stdout, index.ran) == (125, "", []), done.stderr
    assert list(cache(tmp_path).glob("environments/*")) == []


def test_a_wheel_that_is_not_what_its_index_says_is_refused(
    settings: dict[str, str], index: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    index.wrong.add("friendly-1.0-py3-none-any.whl")
    done = wardian(
        "run", make_skill({"scripts/a.py": PLAIN}), "a.py", "--with", "friendly", env=settings
    )
    assert (done.returncode, done.stdout) == (125, "")
    assert list(cache(tmp_path).glob("store/python/*/*")) == []


# What a wheel would put into the environment


@pytest.mark.parametrize(
    "place",
    ["{data}/data/pyvenv.cfg", "{data}/data/bin/python3", "{data}/scripts/python", "{data}/data/lib/../pyvenv.cfg",
     "{data}/platlib/../../../pyvenv.cfg", "../../../pyvenv.cfg"],
)  # fmt: skip
def test_no_wheel_replaces_a_part_of_the_environment(
    place: str,
    settings: dict[str, str],
    index: Index,
    make_skill: MakeSkill,
    wardian: Wardian,
    tmp_path: Path,
) -> None:
    """A pyvenv.cfg that names another home must open nothing: neither now nor in a later run."""
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    (private / "secret").write_text("hunter2")
    index.add(*wheel("lure", {"lure.py": "", place: f"home = {private}/bin\n"}))
    script = f"import os; print(os.path.exists({str(private / 'secret')!r}))"
    skill = make_skill({"scripts/a.py": script})
    done = wardian("run", skill, "a.py", "--with", "lure", env=settings)
    if done.returncode == 125:
        assert done.stdout == ""
        assert list(cache(tmp_path).glob("environments/*")) == []
        return
    again = wardian("run", skill, "a.py", "--with", "lure", env=settings)
    assert (done.stdout, again.stdout) == ("False\n", "False\n"), done.stderr + again.stderr
    (made,) = cache(tmp_path).glob("environments/*")
    assert str(private) not in (made / "pyvenv.cfg").read_text()


def test_an_entry_point_called_python_does_not_replace_it(
    settings: dict[str, str], index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    points = "[console_scripts]\npython = lure:main\npython3 = lure:main\n"
    index.add(*wheel("lure", {"lure.py": "def main(): print('replaced')"}, entry_points=points))
    done = wardian(
        "run", make_skill({"scripts/a.py": "print(1)"}), "a.py", "--with", "lure", env=settings
    )
    assert done.returncode == 125
    assert "replaced" in done.stderr or "reserved name" in done.stderr  # pip, uv
    assert "Traceback" not in done.stderr


# With --build

LOGIN = "me:hunter2"


@pytest.fixture
def closed() -> Iterator[Index]:
    """An index that asks for a password."""
    with serving(Index(LOGIN)) as made:
        yield made


def with_password(tool: str, index: Index, form: str, tmp_path: Path) -> dict[str, str]:
    """The same index, written as people write it."""
    url = f"http://{LOGIN}@{index.url.removeprefix('http://')}/simple"
    bare = f"{index.url}/simple"
    found = for_tool(tool, url)
    if form == "several" and tool == "pip":
        return found | {"PIP_EXTRA_INDEX_URL": f"{url}\n{url} {url}", "PIP_PROXY": ""}
    if form == "several":
        return {"UV_INDEX": f"a={url} b={url}?token=hunter2", "UV_DEFAULT_INDEX": url}
    if form == "file" and tool == "pip":
        (tmp_path / "pip.conf").write_text(f"[global]\nindex-url =\n    {url}\n")
        del found["PIP_INDEX_URL"]
        return found | {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    if form == "file":
        (tmp_path / "uv.toml").write_text(f'[[index]]\nname = "x"\nurl = "{url}"\ndefault = true\n')
        return {"UV_CONFIG_FILE": str(tmp_path / "uv.toml"), "UV_NO_CONFIG": "0"}
    if form == "names" and tool == "uv":
        return {
            "UV_INDEX": f"corp={bare}", "UV_INDEX_CORP_USERNAME": "me", "UV_INDEX_CORP_PASSWORD": "hunter2",
            "UV_DEFAULT_INDEX": bare,
        }  # fmt: skip
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("tool", "form"),
    [("pip", form) for form in ("plain", "several", "file")]
    + [pytest.param("uv", form, marks=needs("uv")) for form in ("several", "file", "names")],
)
def test_a_build_has_neither_network_nor_passwords(
    tool: str, form: str, closed: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    closed.add(*sdist("evil", closed.url))
    settings = with_password(tool, closed, form, tmp_path)
    skill = make_skill({"scripts/a.py": "import evil, json; print(json.dumps(evil.SEEN))"})
    if form == "plain":
        refused = wardian("run", skill, "a.py", "--with", "evil", env=settings)
        assert (refused.returncode, closed.ran) == (125, [])
        assert "hunter2" not in refused.stderr
    done = wardian("run", skill, "a.py", "--with", "evil", "--build", env=settings)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"network": False, "password": False}
    assert closed.ran == []
    assert "hunter2" not in done.stderr


LEAVE = """
import os
place = os.environ.get("TMPDIR", "/tmp")
around = [os.getcwd(), place, os.path.dirname(place), os.path.dirname(os.path.dirname(place))]
for folder in {folders!r} + around:
    for name in (".wardian-ready", ".wardian-ready.partial", "record.json", ".tmp"):
        try:
            os.makedirs(folder, exist_ok=True)
            os.symlink({victim!r}, os.path.join(folder, name))
        except OSError:
            pass
try:
    open({victim!r}, "w").write("replaced")
except OSError:
    pass
for place in {folders!r}:
    try:
        open(os.path.join(place, "poison"), "w").write("x")
    except OSError:
        pass
"""


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_is_written_through_a_link_that_a_build_left(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    victim = tmp_path / "home/.bashrc"
    victim.write_text("mine")
    root = tmp_path / "home/cache/wardian/packages-3"
    folders = [
        str(root / name)
        for name in ("records", "locks", "store", "store/python", "environments", "scratch")
    ]
    code = LEAVE.format(victim=str(victim), folders=folders)
    index.add(*sdist("evil", index.url, code=code))
    skill = make_skill({"scripts/a.py": "import evil; print(evil.SEEN)"})
    options = ("--with", "evil", "--build")
    done = wardian("run", skill, "a.py", *options, env=for_tool(tool, f"{index.url}/simple"))
    assert victim.read_text() == "mine"
    assert "error" not in done.stderr, done.stderr
    assert not list(root.rglob("poison"))
    assert [p for p in root.rglob("*") if p.is_symlink() and os.readlink(p) == str(victim)] == []


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_what_one_preparation_leaves_does_not_serve_another(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    """A wheel that a build made under another package's name stays with that build."""
    settings = for_tool(tool, f"{index.url}/simple")
    name, data = wheel("friendly", {"friendly.py": "X = 'poisoned'"}, version="9.0")
    code = f"import os\nfor f in ('/build/out', '/build', '.'):\n  os.makedirs(f, exist_ok=True)\n  open(f + '/{name}', 'wb').write({data!r})\n"
    index.add(*sdist("evil", index.url, code=code))
    skill = make_skill({"scripts/a.py": PLAIN, "scripts/b.py": "import evil; print('built')"})
    built = wardian("run", skill, "b.py", "--with", "evil", "--build", env=settings)
    assert built.stdout == "built\n", built.stderr
    for options in ((), ("--build",)):
        done = wardian("run", skill, "a.py", "--with", "friendly", *options, env=settings)
        assert done.stdout == "friendly 1\n", done.stderr


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_spoiled_archive_of_the_store_is_fetched_anew(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    settings = for_tool(tool, f"{index.url}/simple")
    index.add(*wheel("other", {"other.py": ""}))
    skill = make_skill({"scripts/a.py": PLAIN})
    wardian("run", skill, "a.py", "--with", "friendly", env=settings)
    (stored,) = cache(tmp_path).glob("store/python/*/friendly*")
    assert stored.stat().st_mode & 0o222 == 0
    data = wheel("friendly", {"friendly.py": "X = 'poisoned'"})[1]
    stored.unlink()
    stored.write_bytes(data)
    done = wardian("run", skill, "a.py", "--with", "friendly", "--with", "other", env=settings)
    assert done.stdout == "friendly 1\n", done.stderr


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_a_source_package_is_built_with_what_it_asks_for(
    tool: str, index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    """Its build requirements, source packages among them, are fetched first; then it is built."""
    index.add(*wheel("helper", {"helper.py": "WORD = 'helped'"}))
    index.add(*sdist("deeper", index.url))
    index.add(
        *sdist("built", index.url, code="import helper, deeper", requires='["helper", "deeper"]')
    )
    index.add(*wheel("outer", {"outer.py": "import built"}, ("built",)))
    skill = make_skill({"scripts/a.py": "import outer; print('ready')"})
    settings = for_tool(tool, f"{index.url}/simple")
    done = wardian("run", skill, "a.py", "--with", "outer", "--build", env=settings)
    assert done.stdout == "ready\n", done.stderr
    assert index.ran == []
    named = f"built @ {index.url}/files/built-1.0.tar.gz"
    skill = make_skill({"scripts/b.py": "import built; print('by URL')"})
    done = wardian("run", skill, "b.py", "--with", named, "--build", env=settings)
    assert done.stdout == "by URL\n", done.stderr
