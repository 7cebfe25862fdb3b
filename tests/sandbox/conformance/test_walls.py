"""What a backend says of its walls is what it does; what it can't do, it says, and fails closed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.sandbox.conformance.conftest import PROGRAMS, PYTHON, Box
from wardian import Policy, Sandbox
from wardian.errors import BackendError, UsageError, WallError
from wardian.sandbox.backends import NAMES, shortfall

IPC_CREAT, IPC_RMID = 0o1000, 0
LIBC = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@contextlib.contextmanager
def _listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextlib.contextmanager
def _segment() -> Iterator[int]:
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x5EED0000 | os.getpid() & 0xFFFF
    identifier = libc.shmget(key, 4096, IPC_CREAT | 0o666)
    yield key
    libc.shmctl(identifier, IPC_RMID, None)


@contextlib.contextmanager
def _nothing() -> Iterator[int]:
    yield 0


# A wall, what the test prepares, and a program that prints "through" if the wall does not stop it.
BREACHES: tuple[tuple[str, Callable[[], contextlib.AbstractContextManager[int]], str], ...] = (
    (
        "namespace.network",
        _listener,
        "import socket\nsocket.create_connection(('127.0.0.1', {0}), 5); print('through')",
    ),
    (
        "namespace.pid",
        _nothing,
        "print('through' if b'{2}' in open('/proc/{1}/cmdline', 'rb').read() else '')",
    ),
    (
        "namespace.ipc",
        _segment,
        LIBC + "print('through' if libc.shmget({0}, 1, 0) >= 0 else '')",
    ),
    (
        "namespace.uts",
        _nothing,
        "import socket\nprint('through' if socket.gethostname() == '{3}' else '')",
    ),
    (
        "namespace.user",
        _nothing,
        LIBC + "print('through' if libc.unshare(0x10000000) == 0 else '')",
    ),
    ("pivot_root", _nothing, "import os\nprint('through' if os.path.exists('{4}') else '')"),
    ("identity", _nothing, "import os\nprint('through' if os.geteuid() == 0 else '')"),
    (
        "capabilities",
        _nothing,
        "t = open('/proc/self/status').read().split('CapEff:')[1].split()[0]\n"
        "print('through' if int(t, 16) else '')",
    ),
    (
        "no_new_privs",
        _nothing,
        LIBC + "print('through' if libc.prctl(39, 0, 0, 0, 0) != 1 else '')",
    ),
    (
        "seccomp",
        _nothing,
        LIBC + "print('through' if libc.ptrace(0, 0, 0, 0) == 0 else '')",
    ),
)  # fmt: skip


# Without these namespaces, the filter refuses what they would contain.
REFUSED_INSTEAD = ("namespace.network", "namespace.ipc", "namespace.user")


@pytest.mark.parametrize(("wall", "prepared", "program"), BREACHES, ids=[b[0] for b in BREACHES])
def test_a_wall_that_stands_stops_what_gets_through_without_it(
    wall: str,
    prepared: Callable[[], contextlib.AbstractContextManager[int]],
    program: str,
    box: Box,
) -> None:
    with prepared() as number:
        host = (number, os.getpid(), "pytest", socket.gethostname(), __file__)
        text = program.format(*host)
        native = subprocess.run([PYTHON, "-c", text], capture_output=True, text=True, check=False)
        inside = box.make().run([PYTHON, "-c", text])
    if box.stands(wall) or (box.name == "landlock" and wall in REFUSED_INSTEAD):
        assert inside.text.strip() == "", inside
    if box.is_host:  # no wall, no difference
        assert not box.stands(wall)
        assert inside.text == native.stdout


def test_some_breach_gets_through_where_no_wall_stands() -> None:
    """Or the test above would show nothing."""
    with _listener() as port:
        text = BREACHES[0][2].format(port, 0, 0, 0, 0)
        done = subprocess.run([PYTHON, "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout == "through\n"


def test_every_backend_tells_of_every_wall(box: Box) -> None:
    walls = {wall.name: wall for wall in box.said.protections}
    with Sandbox() as ours:
        assert set(walls) == {wall.name for wall in ours.run(["true"]).protections}
    for wall in walls.values():
        assert not (wall.enforced and not wall.available), wall
        assert not (wall.enforced and not wall.requested), wall
        if not wall.available:
            assert wall.note or box.name == "wardian", wall


def test_the_host_says_that_it_enforces_nothing(box: Box) -> None:
    if box.is_host:
        assert not any(wall.enforced for wall in box.said.protections)
        assert all(wall.note for wall in box.said.protections)
    else:
        assert any(wall.enforced for wall in box.said.protections)


def test_loopback_of_its_own_works_without_a_network(box: Box, sandbox: Sandbox) -> None:
    program = (
        "import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
        "c = socket.create_connection(s.getsockname()); s.accept()[0].sendall(b'hi')\n"
        "print(c.recv(2).decode())"
    )
    result = sandbox.run([PYTHON, "-c", program])
    if box.name == "landlock":  # which says so
        told = {wall.name: wall for wall in result.protections}["namespace.network"]
        assert "no loopback" in told.note
        assert b"PermissionError" in result.stderr
        return
    assert result.text == "hi\n"


def test_the_host_s_network_is_had_by_asking(box: Box) -> None:
    sandbox = box.make(box.policy(network="host"))
    with _listener() as port:
        result = sandbox.run([PYTHON, "-c", BREACHES[0][2].format(port, 0, 0, 0, 0)])
    assert result.text == "through\n", result
    told = {wall.name: wall for wall in result.protections}["namespace.network"]
    assert (told.requested, told.enforced) == (box.is_host, False)


def test_a_syscall_that_the_policy_denies_is_denied(box: Box) -> None:
    sandbox = box.make(box.policy(deny_syscalls=("mkdir", "mkdirat")))
    result = sandbox.run(["sh", "-c", "mkdir d; touch f && echo here"])
    assert result.text == "here\n"
    assert ("not permitted" in result.stderr.decode()) is box.stands("seccomp")


def test_refusals_are_told_where_something_tells(box: Box, sandbox: Sandbox) -> None:
    result = sandbox.run([PYTHON, "-c", LIBC + "libc.ptrace(0, 0, 0, 0)"])
    assert bool(result.refusals) is box.stands("notify")


def test_descriptors_of_the_caller_do_not_reach_the_guest(box: Box, sandbox: Sandbox) -> None:
    leaked = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    program = "import os\nprint(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
    try:
        assert sandbox.run([PYTHON, "-c", program]).text == "[0, 1, 2]\n"
    finally:
        os.close(leaked)


# Failing closed


def test_what_can_t_be_put_up_must_be_given_up_by_name(box: Box) -> None:
    lacking = shortfall(box.name, Policy.default())
    if not lacking:
        pytest.skip(f"{box.name} puts up all that the default policy asks for, or nothing at all")
    with pytest.raises(WallError) as caught:
        box.make(Policy.default()).run(["true"])
    assert caught.value.wall in lacking
    assert caught.value.exit_code == 125
    for name in lacking:
        assert f"--degrade {name}" in (caught.value.hint or "")
    result = box.make(Policy.default().but(degrade=lacking)).run(["true"])
    told = {wall.name: wall for wall in result.protections}
    for name in lacking:
        assert (told[name].requested, told[name].available, told[name].enforced) == (
            True,
            False,
            False,
        )
        assert told[name].note


def test_one_name_less_is_not_enough(box: Box) -> None:
    lacking = shortfall(box.name, Policy.default())
    for name in lacking:
        others = tuple(other for other in lacking if other != name)
        with pytest.raises(WallError, match=name):
            box.make(Policy.default().but(degrade=others)).run(["true"])


def test_a_name_that_is_no_protection_is_a_usage_error(box: Box) -> None:
    if box.is_host:
        pytest.skip("the host has no protection to give up")
    with pytest.raises(UsageError, match="no-such-wall"):
        box.make(box.policy(degrade=()).but(degrade=("no-such-wall",))).run(["true"])


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_an_absent_program_is_an_error_that_says_how_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with Sandbox(backend_name=name) as sandbox, pytest.raises(BackendError) as caught:
        sandbox.run(["/bin/true"])
    assert "not installed" in str(caught.value)
    assert "apt install" in (caught.value.hint or "")
    assert caught.value.exit_code == 125


def test_a_backend_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no backend") as caught:
        Sandbox(backend_name="no-such-backend")
    for name in NAMES:
        assert name in (caught.value.hint or "")
    assert shutil.which("no-such-backend") is None
