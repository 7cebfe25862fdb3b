"""Who may use a living sandbox: its user's processes outside of sandboxes, and nobody else."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.living.conftest import Living
from wardian.living.wire import PROTOCOL, Channel, Message, field

ORDINARY_ID = 54323  # owns nothing, and needs no entry in /etc/passwd
# Asks a sandbox to run something, as a client would; prints what kind of message comes back.
ASKING = f"""
import socket, sys
def words(*all): return b"".join(len(w).to_bytes(4, "little") + w for w in all)
body = words(b"run", b"protocol", b"{PROTOCOL}", b"arg", b"touch", b"arg", b"/work/reached",
             b"background", b"1")
try:
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1])
    s.sendall(len(body).to_bytes(4, "little") + body)
    data = b""
    while piece := s.recv(65536): data += piece
    print("refused" if b"started" not in data else "through", flush=True)
except OSError as error:
    print("refused", flush=True)
"""


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    made = Living(tmp_path)
    yield made
    made.close()


def reached(living: Living, name: str) -> bool:
    """Did somebody run the command that ASKING asks for?"""
    return living.inside(name, "ls", "/work/reached").returncode == 0


def test_the_request_of_these_tests_is_a_good_one(living: Living) -> None:
    living.up("dev")
    done = subprocess.run(
        [sys.executable, "-c", ASKING, living.directory / "dev.sock"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "through\n"
    assert reached(living, "dev")


def test_a_guest_does_not_find_the_socket(living: Living) -> None:
    living.up("dev")
    done = living.inside("dev", "ls", str(living.directory))
    assert done.returncode != 0
    done = living.inside("dev", "sh", "-c", "cat /proc/net/unix /proc/self/mountinfo")
    assert "dev.sock" not in done.stdout
    assert "runtime" not in done.stdout


def test_a_guest_that_is_given_the_directory_is_refused(living: Living) -> None:
    """As an ordinary user's, it has its user's id and may open the socket: namespaces decide."""
    living.up("other")
    for how in ("--read", "--write"):
        done = living("exec", how, str(living.directory), "--",
                      "python3", "-c", ASKING, str(living.directory / "other.sock"))  # fmt: skip
        assert done.stdout != "through\n", how
    living.up("dev", "--read", str(living.directory))
    for name in ("other", "dev"):
        done = living.inside("dev", "python3", "-c", ASKING, str(living.directory / f"{name}.sock"))
        assert done.stdout == "refused\n"
    assert not reached(living, "other")
    assert not reached(living, "dev")


def test_a_guest_reaches_no_abstract_socket_of_the_host(living: Living) -> None:
    living.up("dev")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(b"\0wardian-test-abstract")
        listener.listen()
        script = (
            "import socket; s = socket.socket(socket.AF_UNIX)\n"
            "try: s.connect(b'\\0wardian-test-abstract'); print('through')\n"
            "except OSError: print('refused')"
        )
        assert living.inside("dev", "python3", "-c", script).stdout == "refused\n"


def test_a_guest_that_kills_every_pid_ends_no_holder(living: Living) -> None:
    living.up("dev")
    holder = living.status("dev")["pid"]
    script = (
        "import os, signal\n"
        f"for pid in [*range(2, 400), {holder}]:\n"
        "    if pid != os.getpid():\n"
        "        try: os.kill(pid, 9)\n"
        "        except OSError: pass\n"
        "try: os.kill(1, 9)\nexcept OSError: pass\n"
        "print('done')"
    )
    assert living.inside("dev", "python3", "-c", script).stdout == "done\n"
    assert living.status("dev")["pid"] == holder
    assert living.inside("dev", "true").returncode == 0


def test_a_guest_gets_no_descriptor_besides_its_three(living: Living) -> None:
    living.up("dev")
    done = living.inside(
        "dev", "python3", "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"
    )
    assert done.stdout == "['0', '1', '2', '3']\n"  # 3 is the listing's own


def send(living: Living, name: str, *fields: tuple[str, bytes], fds: list[int]) -> Message | None:
    """A request of a client that does not keep to the rules."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(str(living.directory / f"{name}.sock"))
        channel = Channel(sock)
        channel.send("run", [field("protocol", PROTOCOL), *fields], fds)
        channel.receive()
        return channel.receive()


def test_a_client_can_hand_over_pipes_only(living: Living) -> None:
    living.up("dev")
    (living.cwd / "file").write_text("x")
    file = os.open(living.cwd / "file", os.O_RDWR)
    reader, writer = os.pipe()
    ours, theirs = socket.socketpair()
    try:
        for stream, fd in ((0, file), (1, file), (0, ours.fileno()), (0, writer), (1, reader)):
            answer = send(living, "dev", field("arg", "true"), field("streams", stream), fds=[fd])
            assert answer is not None
            assert answer.kind == "error"
            assert "only pipes" in answer.text("message")
        answer = send(
            living, "dev", field("arg", "true"), field("streams", "0 1"), fds=[reader, writer]
        )
        assert answer is not None
        assert answer.kind == "started"
    finally:
        for fd in (file, reader, writer):
            os.close(fd)
        ours.close()
        theirs.close()


@pytest.mark.parametrize(
    "data", [b"\xff" * 4, b"\x04\0\0\0\xff\0\0\0", b"\0\0\0\0", b"GET / HTTP/1.1\r\n\r\n", b"\x01"]
)
def test_what_is_no_request_disturbs_nobody(living: Living, data: bytes) -> None:
    living.up("dev")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(str(living.directory / "dev.sock"))
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):  # what it did not read
            while sock.recv(4096):
                pass
    assert living.inside("dev", "true").returncode == 0


def test_another_protocol_is_named(living: Living) -> None:
    living.up("dev")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        sock.connect(str(living.directory / "dev.sock"))
        channel = Channel(sock)
        channel.send("run", [field("protocol", 999)])
        greeting, refusal = channel.receive(), channel.receive()
    assert greeting is not None
    assert greeting.number("protocol") == PROTOCOL
    assert refusal is not None
    assert f"protocol {PROTOCOL}" in refusal.text("message")


# The directory


@pytest.mark.parametrize(
    "args", [("up", "dev"), ("ps",), ("exec", "--sandbox", "dev", "--", "true")]
)
def test_a_directory_that_is_a_link_is_refused(living: Living, args: tuple[str, ...]) -> None:
    elsewhere = living.cwd / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    living.directory.symlink_to(elsewhere)
    done = living(*args)
    assert done.returncode == 125
    assert "it is a symbolic link" in done.stderr
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o777])
def test_a_directory_that_others_may_enter_is_refused(living: Living, mode: int) -> None:
    living.directory.mkdir()
    living.directory.chmod(mode)
    for args in (("up", "dev"), ("exec", "--sandbox", "dev", "--", "true"), ("ps",)):
        done = living(*args)
        assert done.returncode == 125
        assert "others may enter it" in done.stderr


def test_a_directory_that_is_someone_elses_is_refused(living: Living) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a directory another user's")
    living.directory.mkdir(mode=0o700)
    os.chown(living.directory, ORDINARY_ID, ORDINARY_ID)
    for args in (("up", "dev"), ("exec", "--sandbox", "dev", "--", "true"), ("ps",)):
        done = living(*args)
        assert done.returncode == 125
        assert "belongs to another user" in done.stderr


def test_another_user_is_refused_by_directory_and_by_process(living: Living) -> None:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    if python is None:
        pytest.skip("python3 of the system is not installed")
    living.up("dev")

    def asked() -> str:
        done = subprocess.run(
            [python, "-I", "-c", ASKING, living.directory / "dev.sock"],
            capture_output=True, text=True, check=True, cwd="/",
            user=ORDINARY_ID, group=ORDINARY_ID, extra_groups=[],
        )  # fmt: skip
        return done.stdout

    above = [living.runtime, *living.runtime.parents]
    modes = {place: place.stat().st_mode & 0o7777 for place in above}
    assert asked() == "refused\n"
    try:  # were every directory and the socket itself open, its process would still refuse
        for place in above:
            place.chmod(modes[place] | 0o755)
        living.directory.chmod(0o755)
        (living.directory / "dev.sock").chmod(0o777)
        assert asked() == "refused\n"
    finally:
        living.directory.chmod(0o700)
        for place in above:
            place.chmod(modes[place])
    assert not reached(living, "dev")


def test_a_client_does_not_trust_another_users_process(living: Living) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    living.directory.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    pid = os.fork()
    if pid == 0:
        try:
            listener.bind(str(living.directory / "trap.sock"))
            os.setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID)
            os.setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID)
            listener.listen()
            accepted, _ = listener.accept()
            os._exit(1 if accepted.recv(1) else 0)
        finally:
            os._exit(2)
    listener.close()
    while not (living.directory / "trap.sock").exists():
        pass
    done = living.inside("trap", "true")
    for _ in range(50):
        if "is gone" not in done.stderr:  # it was asked before it listened
            break
        done = living.inside("trap", "true")
    assert done.returncode == 125
    assert "another user's" in done.stderr
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0  # it was sent nothing
