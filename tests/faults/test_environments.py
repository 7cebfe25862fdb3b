"""Broken environments, through the API and the command: all walls stand, or nothing runs.

Never open, never hanging, never a traceback (``doors.attempt`` holds these for every try).
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from wardian.sandbox.run.launcher import LAUNCHER

from .doors import DOORS, HERE, PYTHON, attempt, refused, stands

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="the faults name system calls by x86-64's numbers"
    ),
]

STANDS = None
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
LANDLOCK = "444,445,446"

# name: (faults, None if all walls must stand, else words that the refusal must hold)
CASES: dict[str, tuple[list[str], tuple[str, ...] | None]] = {
    "nothing is broken": ([], STANDS),
    # Namespaces
    "a filter forbids user namespaces": (["no-clone-flags"], ("namespaces",)),
    "unshare is refused": (["errno:EPERM:272"], ()),
    "sethostname is refused": (["errno:EPERM:170"], ("host name",)),
    "no clone3": (["errno:ENOSYS:435"], STANDS),
    "no pidfd_open": (["errno:ENOSYS:434"], STANDS),
    "no pidfd_send_signal": (["errno:ENOSYS:424"], STANDS),
    # Landlock
    "no Landlock": ([f"errno:ENOSYS:{LANDLOCK}"], ("landlock", "--degrade landlock")),
    "Landlock off": ([f"errno:EOPNOTSUPP:{LANDLOCK}"], ("landlock", "lsm=landlock")),
    "Landlock forbidden": ([f"errno:EPERM:{LANDLOCK}"], ("landlock",)),
    "Landlock takes no rule": (["errno:EPERM:445"], ("landlock",)),
    "Landlock fails at the end": (["errno:E2BIG:446"], ("landlock",)),
    # seccomp
    "no notifications": (["no-notify"], ("notify", "--degrade notify")),
    "someone above listens": (["listener"], ("notify", "--degrade notify")),
    "no seccomp": (["errno:EINVAL:317"], ()),
    # Mounts
    "mount is refused": (["errno:EPERM:165"], ("mount",)),
    "open_tree is refused": ([f"errno:EPERM:{OPEN_TREE}"], ("mount",)),
    "move_mount is refused": ([f"errno:EPERM:{MOVE_MOUNT}"], ("mount",)),
    "fsopen is refused": ([f"errno:EPERM:{FSOPEN}"], ("mount",)),
    "fsmount is refused": ([f"errno:EPERM:{FSMOUNT}"], ("mount",)),
    "no mount_setattr": ([f"errno:ENOSYS:{MOUNT_SETATTR}"], ("mount", "5.12")),
    "pivot_root is refused": (["errno:EPERM:155"], ("mount",)),
    "umount is refused": (["errno:EPERM:166"], ("mount",)),
    "mounts are used up": ([f"errno:ENOSPC:{MOVE_MOUNT}"], ("mount", "fs.mount-max")),
    # Old kernels
    "like Linux 5.4": (["errno:ENOSYS:436+"], ("landlock",)),
    "like Linux 4.18": (["errno:ENOSYS:424+"], ("landlock",)),
    "no close_range": (["errno:ENOSYS:436"], STANDS),
    "no openat2, faccessat2, epoll_pwait2": (["errno:ENOSYS:437,438,439,441"], STANDS),
    # Identity and capabilities
    "setresuid is refused": (["errno:EPERM:117"], ("identity",)),
    "capset is refused": (["errno:EPERM:126"], ("capabilities",)),
    "keyctl is refused": (["errno:EPERM:250"], STANDS),
    "no_new_privs is set": (["no-new-privs"], STANDS),
    # What the launcher itself needs
    "no socket": (["errno:EPERM:41"], ("network",)),
    "no socketpair": (["errno:EPERM:53"], ()),
    "no signalfd": (["errno:ENOSYS:289"], ()),
    "no memfd_create": (["errno:ENOSYS:319"], ()),
    # Hidden file systems
    "hidden /proc": (["hide:/proc"], ("/proc",)),
    "hidden /sys": (["hide:/sys"], STANDS),
    # Resource limits
    "8 descriptors": (["rlimit:NOFILE:8"], ("ulimit",)),
    "12 descriptors": (["rlimit:NOFILE:12"], ("ulimit",)),
    "16 descriptors": (["rlimit:NOFILE:16"], ("ulimit",)),
    "20 descriptors": (["rlimit:NOFILE:20"], ("ulimit",)),
    "28 descriptors": (["rlimit:NOFILE:28"], ("ulimit",)),
    # A start needs about 63, and one more for each further place of the host with programs.
    "96 descriptors": (["rlimit:NOFILE:96"], STANDS),
    "files of 0 bytes": (["rlimit:FSIZE:0"], ("ulimit",)),
    "files of 1 byte": (["rlimit:FSIZE:1"], ("ulimit",)),
    "1 process": (["rlimit:NPROC:1"], ("ulimit",)),
    "64 MB of address space": (["rlimit:AS:67108864"], STANDS),
    "20 MB of data": (["rlimit:DATA:20971520"], STANDS),
    "1 s of CPU": (["rlimit:CPU:1"], STANDS),
    "256 kB of stack": (["rlimit:STACK:262144"], STANDS),
    "no locked memory": (["rlimit:MEMLOCK:0"], STANDS),
    "no pending signals": (["rlimit:SIGPENDING:0"], STANDS),
    # Signals
    "SIGCHLD ignored": (["ignore:CHLD"], STANDS),
    "SIGPIPE ignored": (["ignore:PIPE"], STANDS),
    "all signals ignored": (["ignore:all"], STANDS),
    "all signals blocked": (["block:all"], STANDS),
    "all signals ignored and blocked": (["ignore:all", "block:all"], STANDS),
    # Directories
    "full /dev/shm": (["fill:/dev/shm"], STANDS),
    "a working directory that was deleted": (["cwd:deleted"], STANDS),
    "a working directory without permission": (["cwd:closed"], STANDS),
    # What else a process inherits
    "umask 0777": (["umask:777"], STANDS),
    "umask 0077": (["umask:077"], STANDS),
    "nice 19": (["nice"], STANDS),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CASES)
def test_all_walls_stand_or_nothing_runs(name: str, door: str, tmp_path: Path) -> None:
    faults, words = CASES[name]
    outcome = attempt(DOORS[door], tmp_path, faults)
    if words is STANDS:
        stands(outcome)
    else:
        refused(outcome, *words)


@pytest.mark.parametrize("door", DOORS)
def test_where_no_user_namespace_can_be_made_nothing_runs(door: str, tmp_path: Path) -> None:
    refused(attempt(DOORS[door], tmp_path, ["no-userns"]))


@pytest.mark.skipif(not os.path.isdir("/sys/fs/cgroup"), reason="there is no cgroup file system")
@pytest.mark.parametrize("door", DOORS)
def test_a_hidden_cgroup_file_system_is_done_without(door: str, tmp_path: Path) -> None:
    stands(attempt(DOORS[door], tmp_path, ["hide:/sys/fs/cgroup"]))


@pytest.mark.parametrize("closed", ["0", "1", "2", "01", "02", "12", "012"])
@pytest.mark.parametrize("door", DOORS)
def test_closed_standard_streams_are_no_descriptors_of_ours(
    door: str, closed: str, tmp_path: Path
) -> None:
    """The guest writes to what is open, and nothing of wardian's own lands on 0, 1 or 2."""
    outcome = attempt(DOORS[door], tmp_path, [f"close:{closed}"])
    assert outcome.code == 0, outcome.error
    if "1" not in closed:
        stands(outcome)
    else:
        assert outcome.stdout == b""


def test_a_guest_whose_streams_are_closed_outside_runs_to_its_end(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    door = [PYTHON, "-m", "wardian", "exec", "--work", str(shared), "--"]
    guest = ["sh", "-c", "echo out; echo err >&2; cat; ls -l /proc/self/fd > fds; touch done"]
    for closed in ("0", "1", "2", "01", "02", "12", "012"):
        outcome = attempt(door, tmp_path, [f"close:{closed}"], guest=guest)
        assert outcome.code == 0, (closed, outcome.error)
        assert (shared / "done").exists()
        assert len((shared / "fds").read_text().splitlines()) <= 5  # a total, 0, 1, 2, and ls's own
        (shared / "done").unlink()


# Places on disk


def in_tmp(path: str) -> bool:
    return os.path.realpath(path).startswith("/tmp/")


@pytest.mark.skipif(
    in_tmp(PYTHON) or in_tmp(__file__) or in_tmp(os.path.dirname(os.path.realpath(PYTHON))),
    reason="Python or these tests live in /tmp themselves",
)
@pytest.mark.parametrize("fault", ["fill", "read-only", "hide"])
@pytest.mark.parametrize("door", DOORS)
def test_tmp_full_read_only_or_new_is_told_or_done_without(
    door: str, fault: str, tmp_path: Path
) -> None:
    from .doors import SOURCES

    if in_tmp(SOURCES):
        pytest.skip("wardian lives in /tmp itself")
    outcome = attempt(DOORS[door], tmp_path, [f"{fault}:/tmp"])
    if door == "api" and fault == "read-only":
        refused(outcome, "/tmp", "TMPDIR")
    else:
        stands(outcome)


# Who calls


@pytest.mark.parametrize("door", DOORS)
def test_the_root_of_a_one_user_namespace_gets_all_walls(door: str, tmp_path: Path) -> None:
    """What ``unshare -r`` gives: there is no other user the guest could be."""
    tmp_path.parent.chmod(0o755)
    stands(attempt(DOORS[door], tmp_path, ["one-user"]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("lost", "ends"),
    [
        ("setuid", refused),
        ("setgid", refused),
        ("setpcap", stands),
        ("dac_override", stands),
        ("net_admin", stands),
    ],
)
def test_a_root_without_a_capability_gets_all_walls_or_is_told(
    lost: str, ends: object, door: str, tmp_path: Path
) -> None:
    number = {"setuid": 7, "setgid": 6, "setpcap": 8, "dac_override": 1, "net_admin": 12}[lost]
    ends(attempt(DOORS[door], tmp_path, [f"capability:{number}"]))  # type: ignore[operator]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("lost", [[21], list(range(41))], ids=["sys_admin", "all"])
def test_a_root_without_sys_admin_is_never_open(lost: list[int], door: str, tmp_path: Path) -> None:
    """Docker's root. Files that only host root can read must not become readable by degrading."""
    outcome = attempt(DOORS[door], tmp_path, [f"capability:{number}" for number in lost])
    if outcome.code == 0:
        stands(outcome)
    else:
        refused(outcome)


def open_to_others(path: Path) -> bool:
    """May everyone read it, and come to it?"""
    readable = path.stat().st_mode & 0o4
    return bool(readable) and all(place.stat().st_mode & 0o1 for place in path.parents)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can map a range of ids")
@pytest.mark.skipif(not os.access("/usr/bin/python3.11", os.X_OK), reason="no /usr/bin/python3.11")
@pytest.mark.parametrize("door", DOORS)
def test_the_root_of_a_container_with_a_range_of_ids(
    door: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if not (open_to_others(HERE / "use.py") and open_to_others(Path(LAUNCHER))):
        pytest.skip("the tests' own files are closed to other users")
    place = tmp_path_factory.mktemp("container")
    for path in (place, *list(place.parents)[:3]):
        path.chmod(0o755)
    command = ["/usr/bin/python3.11", *DOORS[door][1:]]
    outcome = attempt(command, place, ["container"])
    if door == "api" and outcome.code:
        refused(outcome)  # mapping the owner of its work directory may be forbidden there
    else:
        stands(outcome)
