"""Dependencies: prepared once, shared read-only, never trusted. Indexes are here or on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.skill_folders import MakeSkill
from wardian.runner.indexes import (
    Login,
    npm_settings,
    pip_settings,
    uv_settings,
    without_password,
    without_passwords,
)  # fmt: skip

from .conftest import needs

pytestmark = pytest.mark.long

TOOLS = ["pip", pytest.param("uv", marks=needs("uv"))]


def wheel(folder: Path, name: str, source: str, version: str = "1.0") -> None:
    """A wheel by hand: the package index of these tests."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text)}")
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


BACKEND = """
import base64, hashlib, json, os, zipfile
def told():
    seen = {"secret": os.path.exists(%(secret)r), "home": os.listdir(os.path.expanduser("~"))}
    seen["variables"] = [n for n in os.environ if "PASSWORD" in n or "hunter2" in os.environ[n]]
    try:
        open(os.path.join(%(store)r, "poison"), "w"); seen["store"] = True
    except OSError:
        seen["store"] = False
    return "SEEN = " + json.dumps(seen).replace("true", "True").replace("false", "False")
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name, info = "built-1.0-py3-none-any.whl", "built-1.0.dist-info"
    files = {
        "built.py": told(),
        info + "/METADATA": "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[info + "/RECORD"] = "".join(path + ",,\\n" for path in [*files, info + "/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""


def sdist(folder: Path, secret: Path, store: Path) -> None:
    """A source distribution whose build looks around and puts what it saw into the package."""
    files = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        'backend-path = ["."]\n[project]\nname = "built"\nversion = "1.0"\n',
        "backend.py": BACKEND % {"secret": str(secret), "store": str(store)},
        "PKG-INFO": "Metadata-Version: 2.1\nName: built\nVersion: 1.0\n",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / "built-1.0.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"built-1.0/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    wheel(folder, "greeting", "def greet(): return 'hello from a wheel'")
    return folder


@pytest.fixture
def settings(index: Path, request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Variables that make one tool find the local index and, for pip, hide uv."""
    tool = getattr(request, "param", "pip")
    found = {"PIP_FIND_LINKS": str(index)}
    return found | ({"PATH": without_uv(tmp_path)} if tool == "pip" else {})


def without_uv(tmp_path: Path) -> str:
    """The PATH, less the directories that hold a uv."""
    entries = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(e for e in entries if not os.path.exists(os.path.join(e, "uv")))


INLINE = (
    '# /// script\n# dependencies = ["greeting"]\n# ///\nimport greeting; print(greeting.greet())\n'
)
PROJECT = '[project]\nname = "x"\ndependencies = ["greeting"]\n'
PLAIN = "import greeting; print(greeting.greet())\n"


@pytest.mark.parametrize("settings", TOOLS, indirect=True)
@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"scripts/a.py": INLINE}, ()),
        ({"scripts/a.py": PLAIN, "requirements.txt": "greeting>=1  # friendly\n"}, ()),
        ({"scripts/a.py": PLAIN, "scripts/requirements.txt": "greeting\n"}, ()),
        ({"scripts/a.py": PLAIN, "pyproject.toml": PROJECT}, ()),
        ({"scripts/a.py": PLAIN}, ("--with", "greeting==1.0")),
    ],
    ids=["PEP 723", "requirements.txt", "requirements.txt beside it", "pyproject.toml", "--with"],
)  # fmt: skip
def test_each_declaration_is_prepared_once(
    files: dict[str, str],
    options: tuple[str, ...],
    settings: dict[str, str],
    make_skill: MakeSkill,
    wardian: Wardian,
) -> None:
    skill = make_skill(dict(files))
    first = wardian("run", skill, "a.py", *options, env=settings)
    assert first.stdout == "hello from a wheel\n", first.stderr
    assert "wardian: preparing greeting" in first.stderr
    again = wardian("run", skill, "a.py", *options, "--offline", env={"PIP_FIND_LINKS": "/nowhere"})
    assert (again.stdout, again.stderr) == ("hello from a wheel\n", "")


def test_an_environment_is_read_only_inside(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    script = INLINE + "try:\n    open(greeting.__file__, 'a')\nexcept OSError: print('refused')\n"
    done = wardian("run", make_skill({"scripts/a.py": script}), "a.py", env=settings)
    assert done.stdout.splitlines() == ["hello from a wheel", "refused"]


def test_no_deps_and_offline_prepare_nothing(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": INLINE})
    done = wardian("run", skill, "a.py", "--no-deps", env=settings)
    assert "ModuleNotFoundError" in done.stderr
    assert not (tmp_path / "home/cache").exists()
    done = wardian(
        "run", skill, "a.py", "--offline", env={**settings, "PIP_FIND_LINKS": "/nowhere"}
    )
    assert done.returncode == 125
    assert "could not prepare greeting: not all of it is in the cache" in done.stderr
    assert "without --offline it could be fetched" in done.stderr


def test_many_runs_at_once_prepare_it_once(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": INLINE})
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: wardian("run", skill, "a.py", env=settings), range(4)))
    assert [one.stdout for one in done] == ["hello from a wheel\n"] * 4
    assert sum("wardian: preparing" in one.stderr for one in done) == 1


def test_what_was_half_prepared_is_made_anew(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": INLINE})
    wardian("run", skill, "a.py", env=settings)
    cache = tmp_path / "home/cache/wardian/packages-3"
    (record,) = cache.glob("records/*.json")
    record.unlink()
    made = cache / "environments" / record.stem
    (made / "lib").rename(made / "half")
    done = wardian("run", skill, "a.py", env=settings)
    assert done.stdout == "hello from a wheel\n"
    assert not (made / "half").exists()


def test_a_failure_leaves_nothing_and_says_what_the_tool_said(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    done = wardian(
        "run",
        make_skill({"scripts/a.py": PLAIN}),
        "a.py",
        "--with",
        "nowhere-to-be-found",
        env=settings,
    )
    assert done.returncode == 125
    assert "could not prepare nowhere-to-be-found" in done.stderr
    assert "pip said:" in done.stderr
    cache = tmp_path / "home/cache/wardian/packages-3"
    assert [
        p for name in ("environments", "scratch", "records") for p in cache.glob(f"{name}/*")
    ] == []


@pytest.mark.parametrize(
    "text",
    ["-r /etc/passwd", "--index-url=http://x", "./local", "/abs", "x @ file:///etc", "a\nb", ""],
)
def test_only_packages_are_packages(text: str, make_skill: MakeSkill, wardian: Wardian) -> None:
    done = wardian("run", make_skill({"scripts/a.py": PLAIN}), "a.py", f"--with={text}")
    assert done.returncode == 125
    assert "is not a package" in done.stderr


@pytest.mark.parametrize("settings", TOOLS, indirect=True)
def test_a_source_build_is_refused_and_runs_shut_in_when_allowed(
    settings: dict[str, str],
    index: Path,
    make_skill: MakeSkill,
    wardian: Wardian,
    tmp_path: Path,
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    store = tmp_path / "home/cache/wardian/downloads"
    sdist(index, secret, store)
    skill = make_skill({"scripts/a.py": "import built, json; print(json.dumps(built.SEEN))"})
    refused = wardian("run", skill, "a.py", "--with", "built", env=settings)
    assert refused.returncode == 125
    assert "--build" in refused.stderr
    secrets = {
        "MY_PASSWORD": "x",
        "PIP_EXTRA_INDEX_URL": "http://me:hunter2@127.0.0.1:9/simple",
        "UV_INDEX_X_PASSWORD": "hunter2",
    }
    allowed = wardian("run", skill, "a.py", "--with", "built", "--build", env=settings | secrets)
    assert allowed.returncode == 0, allowed.stderr
    assert json.loads(allowed.stdout) == {
        "secret": False,
        "home": [],
        "variables": [],
        "store": False,
    }


def test_a_url_that_has_to_be_built_is_refused_before_anything_is_fetched(
    settings: dict[str, str], make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "x @ http://127.0.0.1:9/x.tar.gz", env=settings)
    assert done.returncode == 125
    assert "has to be built" in done.stderr


# Node


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """An npm registry on loopback with two packages, one with an install script."""
    root = tmp_path / "registry"
    root.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        publish(root, url, "padder", {})
        publish(
            root,
            url,
            "installer",
            {"install": "node -e \"require('fs').writeFileSync('ran', require('os').homedir())\""},
        )
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield url
        server.shutdown()
        thread.join()


def publish(root: Path, url: str, name: str, scripts: dict[str, str]) -> None:
    manifest = {"name": name, "version": "1.0.0", "main": "index.js", "scripts": scripts}
    packed = io.BytesIO()
    files = {
        "package.json": json.dumps(manifest),
        "index.js": "const ran = require('fs').existsSync(__dirname + '/ran')\n"
        f"module.exports = () => '{name}' + (ran ? ' ran' : '')",
    }
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size, member.mode = len(text), 0o644
            archive.addfile(member, io.BytesIO(text.encode()))
    data = packed.getvalue()
    (root / f"{name}.tgz").write_bytes(data)
    digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
    about = manifest | {"dist": {"tarball": f"{url}/{name}.tgz", "integrity": f"sha512-{digest}"}}
    if scripts:
        about["hasInstallScript"] = True
    document = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": about}}
    (root / name).write_text(json.dumps(document))


def node_skill(make_skill: MakeSkill, package: str) -> Path:
    return make_skill(
        {
            "scripts/a.mjs": f'import it from "{package}"; console.log(it());',
            "scripts/b.cjs": f'console.log(require("{package}")());',
            "package.json": json.dumps(
                {"dependencies": {package: "^1"}, "scripts": {"postinstall": "false"}}
            ),
        }
    )


@needs("npm")
def test_node_packages_are_found_by_import_and_require(
    registry: str, make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = node_skill(make_skill, "padder")
    env = {"npm_config_registry": registry}
    assert wardian("run", skill, "a.mjs", env=env).stdout == "padder\n"
    again = wardian(
        "run", skill, "b.cjs", "--offline", env={"npm_config_registry": "http://127.0.0.1:9"}
    )
    assert (again.stdout, again.stderr) == ("padder\n", "")


@needs("npm")
def test_an_install_script_is_not_run_and_runs_shut_in_when_allowed(
    registry: str, make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = node_skill(make_skill, "installer")
    env = {"npm_config_registry": registry}
    without = wardian("run", skill, "b.cjs", env=env)
    assert "not run: the install script of installer; to run it: --build" in without.stderr
    assert without.stdout == "installer\n"
    assert wardian("run", skill, "b.cjs", "--build", env=env).stdout == "installer ran\n"


def test_a_package_from_this_disk_is_refused(make_skill: MakeSkill, wardian: Wardian) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    manifest = json.dumps({"dependencies": {"x": "file:../../etc"}})
    skill = make_skill({"scripts/a.mjs": "1", "package.json": manifest})
    assert "can't see" in wardian("run", skill, "a.mjs").stderr


# The user's own settings


def test_pips_files_are_read_and_variables_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/pip.conf").write_text(
        "[global]\nindex-url = https://a/simple\nretries = 9\n[freeze]\nx = 1\n"
    )
    found = pip_settings({"XDG_CONFIG_HOME": str(tmp_path), "PIP_RETRIES": "1"})
    assert found.variables["PIP_INDEX_URL"] == "https://a/simple"
    assert found.variables["PIP_RETRIES"] == "1"


def test_uv_is_told_what_only_pip_knows(tmp_path: Path) -> None:
    env = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://a/simple",
        "PIP_CONFIG_FILE": os.devnull,
    }
    assert uv_settings(env).variables["UV_DEFAULT_INDEX"] == "https://a/simple"
    own = uv_settings(env | {"UV_DEFAULT_INDEX": "https://b"})
    assert own.variables["UV_DEFAULT_INDEX"] == "https://b"


def test_local_indexes_are_shared_and_homes_are_not(tmp_path: Path) -> None:
    simple = tmp_path / "mirror/simple"
    simple.mkdir(parents=True)
    env = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_EXTRA_INDEX_URL": f"file://{simple}",
        "PIP_FIND_LINKS": f"{os.path.expanduser('~')} / /usr/share /proc/self",
    }
    shares = {share.path for share in pip_settings(env).shares}
    assert str(tmp_path / "mirror") in shares
    assert shares.isdisjoint({os.path.expanduser("~"), "/", "/proc/self"})


def test_what_is_secret_in_the_settings_is_known_in_every_form(tmp_path: Path) -> None:
    npmrc = tmp_path / "npmrc"
    npmrc.write_text(
        "registry=https://me:pw0rd@npm.example/\n//npm.example/:_authToken=${TOKEN}\n; c\n"
        "git=/tmp/evil\nscript-shell=/tmp/evil\nnode-options=--require /tmp/evil\n"
    )
    env = {
        "NPM_CONFIG_USERCONFIG": str(npmrc),
        "TOKEN": "t0k3n",
        "HTTPS_PROXY": "http://u:proxypw@proxy:1",
    }
    found = npm_settings(env)
    assert found.variables["npm_config_//npm.example/:_authToken"] == "t0k3n"
    assert {"pw0rd", "t0k3n", "proxypw"} <= set(found.secrets)
    assert "/tmp/evil" not in str(found.variables)
    env = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "UV_INDEX": "one=https://a:first@h/simple\nhttps://h2/simple?token=second",
        "UV_DEFAULT_INDEX": "https://third@h3/simple",
        "UV_INDEX_ONE_USERNAME": "bob",
        "UV_INDEX_ONE_PASSWORD": "fourth",
    }
    uv = uv_settings(env)
    assert {"first", "second", "third", "fourth"} <= set(uv.secrets)
    assert uv.indexes == ("https://h/simple", "https://h2/simple", "https://h3/simple") or (
        set(uv.indexes) == {"https://h/simple", "https://h2/simple", "https://h3/simple"}
    )
    assert Login("https://h:443", "bob", "fourth") in uv.logins


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("https://a@b:1/c", "https://b:1/c"),
        ("https://a:b@c/d?token=e#f", "https://c/d"),
        ("name=https://a:b@c/d", "name=https://c/d"),
        ("https://a:b%40c@d/", "https://d/"),
        ("/opt/wheels", "/opt/wheels"),
    ],
)
def test_a_url_is_shown_without_what_is_secret(given: str, plain: str) -> None:
    assert without_password(given) == plain
    assert without_passwords(f"pip: {given}, {given}\n") == f"pip: {plain}, {plain}\n"


def test_a_flood_of_urls_is_cleaned_in_no_time() -> None:
    import time

    started = time.process_time()
    for flood in ("://" * 100_000, "://a@" * 100_000, "a://b" * 100_000 + "?x"):
        without_passwords(flood)
    assert time.process_time() - started < 5
