"""Ground truth: each wall has probes that watch it, and taking the wall away flips them."""

from __future__ import annotations

import subprocess

import pytest

from tests.measure.probes.conftest import ROOT, Tree
from wardian.measure.probes.artifact import Artifact
from wardian.measure.probes.blame import WALLS, Wall, without
from wardian.measure.probes.running import measure
from wardian.measure.probes.specimen import Specimen, find_specimens, probes_dir
from wardian.measure.probes.witnesses import witnesses
from wardian.sandbox.policy.policy import Policy

pytestmark = pytest.mark.long

BY_NAME = {wall.name: wall for wall in WALLS}
# Walls to take away → shipped specimens that only they hold back.
WATCHED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("seccomp",): (
        "core__kernel__io_uring",
        "core__kernel__keyring_add",
        "core__kernel__personality",
        "core__process__ptrace_child",
        "core__network__vsock",
    ),
    ("landlock",): ("core__process__signal_init",),
    ("own root",): (
        "core__filesystem__host_file_read",
        "core__filesystem__host_dir_list",
        "core__identity__other_accounts",
        "core__network__host_unix_socket",
    ),
    ("masks",): ("core__identity__boot_id", "core__kernel__command_line"),
    ("namespace.network",): (
        "core__network__host_loopback",
        "core__network__host_loopback_udp",
        "core__network__outside_interface",
    ),
    ("namespace.network", "landlock"): ("core__network__host_abstract_socket",),
    ("namespace.pid",): ("core__process__signal_everyone",),
    ("namespace.ipc",): ("core__ipc__host_segment",),
    ("namespace.uts",): ("core__identity__host_name",),
    ("namespace.cgroup",): ("core__resources__control_group_path",),
    ("nested namespaces",): ("core__kernel__clone3_user",),
    ("seccomp", "nested namespaces"): ("core__kernel__unshare_user",),
    ("capabilities",): ("core__identity__capabilities_within_reach",),
    ("descriptors",): ("core__process__inherited_descriptors",),
    ("limits",): (
        "core__resources__file_size_unlimited",
        "core__resources__memory_unlimited",
        "core__resources__open_files_many",
    ),
}
# The same for walls of which an ordinary program notices nothing.
PLANTED = {
    "read-only mounts": "if os.statvfs('/usr').f_flag & os.ST_RDONLY:\n    raise Blocked('ro')",
    "nosuid, nodev": "if os.statvfs('/usr').f_flag & os.ST_NOSUID:\n    raise Blocked('nosuid')",
    "session": "if os.getsid(0) == os.getpid():\n    raise Blocked('a session of its own')",
}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The launcher that can leave walls out."""
    out = tmp_path_factory.mktemp("launcher")
    path = out / "wardian-launch-test"
    subprocess.run(["make", "-s", "-C", ROOT / "core", f"OUT={out}", path], check=True)
    return str(path)


def seen(specimens: list[Specimen], walls: list[Wall], launcher: str) -> dict[str, Artifact]:
    """By ID, behind all walls but these."""
    with witnesses() as env:
        setting = without(walls, Policy.default(), env, launcher)
        return {one.id: one for one in measure(specimens, [setting], env)}


def flips(specimens: list[Specimen], walls: list[Wall], launcher: str) -> None:
    behind, exposed = seen(specimens, [], launcher), seen(specimens, walls, launcher)
    for one in specimens:
        assert behind[one.id].observed == "blocked", behind[one.id]
        assert exposed[one.id].observed == "allowed", exposed[one.id]


@pytest.mark.parametrize("walls", list(WATCHED), ids=" and ".join)
def test_a_probe_flips_when_the_wall_it_watches_goes(walls: tuple[str, ...], launcher: str) -> None:
    shipped = {one.id: one for one in find_specimens(probes_dir())}
    specimens = [shipped[name] for name in WATCHED[walls]]
    flips(specimens, [BY_NAME[name] for name in walls], launcher)


@pytest.mark.parametrize("wall", list(PLANTED))
def test_a_wall_that_no_ordinary_program_meets_stands_until_it_is_taken_away(
    tree: Tree, wall: str, launcher: str
) -> None:
    tree.python("watching", PLANTED[wall])
    flips(find_specimens(str(tree.path)), [BY_NAME[wall]], launcher)


def test_a_guest_of_roots_is_counted_because_it_is_not_root(launcher: str, as_root: bool) -> None:
    if not as_root:
        pytest.skip("an ordinary user's guest is that user, with or without this wall")
    shipped = {one.id: one for one in find_specimens(probes_dir())}
    flips([shipped["core__resources__processes_many"]], [BY_NAME["identity"]], launcher)


def test_the_launchers_memory_is_hidden_by_two_walls(tree: Tree, launcher: str) -> None:
    tree.python("looking", "return os.readlink('/proc/1/exe')")
    specimens = find_specimens(str(tree.path))
    flips(specimens, [BY_NAME["not dumpable"], BY_NAME["landlock"]], launcher)


def test_every_wall_is_watched() -> None:
    watched = {name for walls in WATCHED for name in walls} | set(PLANTED)
    assert watched | {"identity", "not dumpable"} == set(BY_NAME)
