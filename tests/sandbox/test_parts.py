"""A base that names parts of /usr and /etc: what is named is there, by every name, and no more."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy
from wardian.errors import ShareError
from wardian.sandbox.policy.difference import differences
from wardian.sandbox.policy.policy import Share
from wardian.sandbox.root.layout import layout
from wardian.sandbox.root.parts import MOST, Parts
from wardian.sandbox.root.root import base, parts_of_host
from wardian.syscalls import rows

DEFAULT = Policy.default()
# What any dynamic program needs, wherever this distribution keeps it.
LIBRARIES = tuple(
    path for path in ("/usr/lib", "/usr/lib64", "/lib", "/lib64") if os.path.isdir(path)
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A host of its own: usr/bin/tool → ../lib/v2/tool, lib/v2 → v1, a loop, a way out."""
    root = tmp_path / "usr"
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "v1").mkdir(parents=True)
    (root / "lib" / "v1" / "tool").write_text("x")
    (root / "lib" / "v2").symlink_to("v1")
    (root / "bin" / "tool").symlink_to("../lib/v2/tool")
    (root / "bin" / "absolute").symlink_to("/usr/lib/v1/tool")
    (root / "bin" / "loop").symlink_to("loop")
    (root / "bin" / "out").symlink_to("/var/secret")
    (root / "bin" / "up").symlink_to("../../../../../../usr/lib/v1")
    return root


def parts(tree: Path, *paths: str) -> Parts:
    found = Parts({"/usr": str(tree)}, {"/bin": "usr/bin", "/etc/tool": "/usr/bin/tool"})
    for path in paths:
        found.add(path)
    return found


def test_a_link_brings_along_what_it_names(tree: Path) -> None:
    found = parts(tree, "/usr/bin/tool")
    assert found.places == {"/usr/lib/v1/tool": f"{tree}/lib/v1/tool"}
    assert found.links == {"/usr/bin/tool": "../lib/v2/tool", "/usr/lib/v2": "v1"}


@pytest.mark.parametrize(
    "path", ["/bin/tool", "/etc/tool", "/usr/bin/absolute", "/usr/bin/up/tool"]
)
def test_every_way_to_a_file_leads_there(tree: Path, path: str) -> None:
    found = parts(tree, path)
    assert list(found.places) == ["/usr/lib/v1/tool"]
    assert found.real(path) == "/usr/lib/v1/tool"


def test_what_lies_in_another_part_is_mounted_once(tree: Path) -> None:
    found = parts(tree, "/usr/lib", "/usr/bin/tool", "/usr/lib/v1/tool")
    assert list(found.places) == ["/usr/lib"]
    assert list(found.links) == ["/usr/bin/tool"]


@pytest.mark.parametrize(
    "path",
    ["/", "/etc", "/var/secret", "/usr/none", "/usr/bin/loop", "/usr/bin/out", "/usrx", "/.."],
)
def test_what_is_not_in_the_whole_is_refused(tree: Path, path: str) -> None:
    with pytest.raises(ShareError, match="no part of"):
        parts(tree, path)


def test_there_are_only_so_many(tree: Path) -> None:
    for number in range(MOST + 1):
        (tree / f"file{number}").write_text("")
    with pytest.raises(ShareError, match="at most"):
        parts(tree, *(f"/usr/file{number}" for number in range(MOST + 1)))


def test_the_parts_of_this_host_are_below_the_whole() -> None:
    whole = {one.path for one in base()}
    for one in parts_of_host(LIBRARIES):
        assert one.path in whole or one.path.startswith("/usr/")


def test_only_what_is_named_is_there_and_the_roots_are_still_links(
    make_sandbox: MakeSandbox,
) -> None:
    sh, ls = shutil.which("sh") or "/bin/sh", shutil.which("ls") or "/bin/ls"
    sandbox = make_sandbox(DEFAULT.but(base=(sh, ls, *LIBRARIES)))
    shown = sandbox.run(["ls", "/usr/bin", "/usr"]).check().text.split()
    assert "ls" in shown
    assert len(shown) < 20
    assert sandbox.run(["/bin/sh", "-c", "exit 7"]).exit_code == 7
    assert sandbox.run(["cat", "/etc/passwd"]).reason == "not found"
    assert sandbox.run(["sh", "-c", "read line < /etc/passwd"]).exit_code == 0
    assert sandbox.run(["sh", "-c", "echo x > /usr/bin/new"]).exit_code != 0
    assert sandbox.run(["sh", "-c", "echo x > /usr/new"]).exit_code != 0


def test_what_is_missing_is_told_and_the_hint_helps(make_sandbox: MakeSandbox) -> None:
    sh, cat = shutil.which("sh") or "/bin/sh", shutil.which("cat") or "/bin/cat"
    narrow = DEFAULT.but(base=(sh, *LIBRARIES))
    command = ["sh", "-c", f"{cat} /etc/hostname"]
    refused = make_sandbox(narrow).run(command)
    assert refused.exit_code == 127
    (told,) = [one for one in refused.refusals if one.target == cat]
    assert told.allow is not None
    assert told.allow.flag == f"--read {cat}"
    assert make_sandbox(narrow.with_shares([Share(cat, cat)])).run(command).text == "wardian\n"


def test_an_empty_base_leaves_nothing_of_the_host(make_sandbox: MakeSandbox) -> None:
    assert make_sandbox(DEFAULT.but(base=())).run(["/bin/sh", "-c", "true"]).exit_code == 127


def test_a_base_and_another_root_exclude_each_other(
    make_sandbox: MakeSandbox, tmp_path: Path
) -> None:
    with pytest.raises(ShareError, match="cannot be combined"):
        make_sandbox(DEFAULT.but(base=("/usr",), rootfs=str(tmp_path))).run(["true"])


def test_a_narrow_base_is_told_as_less_of_the_host() -> None:
    told = differences(DEFAULT, DEFAULT.but(base=("/usr/bin",)))
    assert {one.more for one in told} == {"a"}
    (usr,) = [one for one in told if one.subject == "/usr"]
    assert usr.text == "A also lets the run read /usr, but for /usr/bin"
    assert differences(DEFAULT.but(base=("/usr",)), DEFAULT.but(base=("/usr", "/usr/bin"))) == []


def test_all_calls_but_those_named_are_denied_under_the_conditions_of_the_table(
    tmp_path: Path,
) -> None:
    file = tmp_path / "only.toml"
    file.write_text('[syscalls]\nonly = ["read", "clone"]\nallow = ["mount"]\n')
    policy = Policy.from_toml(file)
    passing = {row.name for row in rows() if row.kind in ("allow", "when")}
    assert set(policy.deny_syscalls) == passing - {"read", "clone", "sendmsg"}
    assert policy.allow_syscalls == ("mount",)
    file.write_text(policy.to_toml())
    assert "deny" not in file.read_text()
    assert Policy.from_toml(file) == policy


def test_all_variables_but_those_named_are_left_out(
    make_sandbox: MakeSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "only.toml"
    file.write_text('[environment]\nonly = ["WANTED"]\n')
    monkeypatch.setenv("WANTED", "1")
    monkeypatch.setenv("LANG", "C")
    shown = make_sandbox(Policy.from_toml(file)).run(["env"]).text
    assert "WANTED=1" in shown
    assert "LANG=" not in shown


def test_our_own_files_stand_where_nothing_of_the_host_does() -> None:
    """So that the order of both does not matter, in any backend."""
    shape = layout()
    ours = {path for path, _ in shape.files}
    named = {f"/etc/{name}" for name in (*shape.etc, *shape.etc_network)}
    assert not ours & named
    assert not ours & {part.path for part in base()}
