"""Which wall blocks it: planted specimens, each held by a wall that is known beforehand."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.measure.probes.conftest import ROOT, Probe, Tree
from wardian.measure.blame import WALLS
from wardian.measure.probes.blame import blame
from wardian.measure.probes.specimen import find_specimens
from wardian.measure.probes.witnesses import witnesses
from wardian.sandbox.policy.policy import Policy

pytestmark = pytest.mark.long

CALL = (
    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if {call} < 0:\n    raise OSError(ctypes.get_errno(), 'no')\nreturn 'done'"
)
# wall → a specimen that only this wall holds
HELD = {
    "seccomp": CALL.format(call="libc.personality(0x0040000)"),
    "own root": "return open(witness('FILE')).read()",
    "namespace.network": (
        "import socket\nwith socket.create_connection(('127.0.0.1', int(witness('PORT')))) as s:\n"
        "    return s.recv(100).decode()"
    ),
    "namespace.uts": (
        "if os.uname().nodename != witness('HOSTNAME'):\n    raise Blocked('another name')"
    ),
    "limits": (
        "import resource\nif resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 1024:\n"
        "    raise Blocked('few files')"
    ),
}
BY_POLICY = {"seccomp", "own root", "namespace.network", "limits"}


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The launcher that can leave walls out."""
    out = tmp_path_factory.mktemp("launcher")
    path = out / "wardian-launch-test"
    subprocess.run(["make", "-s", "-C", ROOT / "core", f"OUT={out}", path], check=True)
    return str(path)


@pytest.mark.parametrize("wall", list(HELD))
def test_the_wall_that_holds_it_is_found(tree: Tree, launcher: str, wall: str) -> None:
    tree.python("held", HELD[wall])
    specimen = find_specimens(str(tree.path))[0]
    with witnesses() as env:
        found = blame(specimen, Policy.default(), env, launcher=launcher)
    assert found.baseline.observed == "blocked"
    assert [one.name for one in found.blamed] == [wall]
    assert found.certain
    assert found.not_tried == ()


@pytest.mark.parametrize("wall", sorted(BY_POLICY))
def test_without_a_launcher_for_tests_policies_are_tried(tree: Tree, wall: str) -> None:
    tree.python("held", HELD[wall])
    specimen = find_specimens(str(tree.path))[0]
    with witnesses() as env:
        found = blame(specimen, Policy.default(), env)
    assert [one.name for one in found.blamed] == [wall]
    assert "namespace.pid" in found.not_tried


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_namespace_that_no_policy_gives_up_is_put_up_alone_on_the_host(tree: Tree) -> None:
    tree.python("signal", "os.kill(int(witness('PID')), 0)\nreturn 'reached'")
    (signal,) = find_specimens(str(tree.path))
    with witnesses() as env:
        found = blame(signal, Policy.default(), env, host_named=True)
        unasked = blame(signal, Policy.default(), env)
    assert [one.name for one in found.blamed] == ["namespace.pid"]
    assert "namespace.pid" not in found.not_tried
    assert [(one.way, one.without) for one in found.trials if one.wall in found.blamed] == [
        ("itself", None)
    ]
    # What may not run on the host is not put there behind one wall either.
    assert unasked.blamed == ()
    assert "namespace.pid" in unasked.not_tried
    assert "seccomp" in unasked.answer


def test_walls_that_hold_it_together_are_all_found(tree: Tree, launcher: str) -> None:
    tree.python("signal", "os.kill(int(witness('PID')), 0)\nreturn 'reached'")
    specimen = find_specimens(str(tree.path))[0]
    with witnesses() as env:
        found = blame(specimen, Policy.default(), env, launcher=launcher)
    names = {one.name for one in found.blamed}
    assert {"landlock", "namespace.pid"} <= names
    assert [one.name for one in found.first] == ["namespace.pid"]


def test_nobody_is_blamed_for_what_is_allowed_or_fails_on_the_host_too(tree: Tree) -> None:
    tree.python("good", "return 'fine'")
    tree.python("hopeless", "open('/nowhere/at/all')")
    fine, hopeless = find_specimens(str(tree.path))
    with witnesses() as env:
        answers = [blame(one, Policy.default(), env, host_named=True) for one in (fine, hopeless)]
    assert [one.blamed for one in answers] == [(), ()]
    assert "allowed" in answers[0].answer
    assert "the host blocks it too (ENOENT)" in answers[1].answer


def test_the_command_shows_the_wall_and_what_was_not_tried(
    tree: Tree, probe: Probe, launcher: str
) -> None:
    tree.python("held", HELD["seccomp"])
    mine = ("core__filesystem__held", "--probes", str(tree.path))
    document = json.loads(probe("blame", *mine, "--launcher", launcher, "--json").stdout)
    answer = document["probes"][0]
    assert answer["blamed"] == [{"wall": "seccomp", "kind": "seccomp"}]
    assert len(answer["trials"]) == len(WALLS)
    assert any("personality" in text for text in answer["refusals"])
    done = probe("blame", *mine, "--no-launcher", "-v")
    assert done.returncode == 0
    assert "seccomp (seccomp): without it it is allowed" in done.stdout
    assert "not tried: " in done.stdout


def test_every_flag_of_blame_exists_in_the_launcher() -> None:
    text = (ROOT / "core" / "omitted_walls.c").read_text()
    for wall in WALLS:
        for flag in wall.flags:
            assert f'"without-{flag}"' in text, flag
    assert Path(ROOT / "core").is_dir()
