"""Living in a sandbox from the command line: real processes, each a client of another."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.test_main import MAY_IMPORT
from tests.command import COMMAND
from tests.living.conftest import Living

SERVER = (
    "import http.server as h, sys; print('serving', flush=True); "
    "h.HTTPServer(('127.0.0.1', 8123), h.SimpleHTTPRequestHandler).serve_forever()"
)
CLIENT = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/', timeout=20).status)"


def until(true: Callable[[], bool], what: str, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_two_commands_share_tmp_home_and_work(living: Living) -> None:
    name = living.up("dev")
    assert name == "dev"
    for place in ("/tmp", "/home/user", "/work"):
        assert living.inside(name, "sh", "-c", f"echo kept > {place}/f").returncode == 0
        assert living.inside(name, "cat", f"{place}/f").stdout == "kept\n"
    other = living.up()
    assert living.inside(other, "cat", "/tmp/f").returncode == 1


def test_a_work_directory_is_shared_and_where_commands_start(living: Living) -> None:
    living.up("dev", "--work", ".")
    done = living.inside("dev", "sh", "-c", "pwd; echo made > here", options=("--cwd", "."))
    assert (done.stdout, done.returncode) == ("/work\n", 0)
    assert (living.cwd / "here").read_text() == "made\n"
    assert living.status("dev")["work"] == str(living.cwd)


def test_a_background_server_and_its_client(living: Living) -> None:
    living.up("dev")
    started = living.inside("dev", "python3", "-c", SERVER, options=("--background",))
    assert (started.stdout, started.returncode) == ("1\n", 0)
    until(lambda: living.status("dev")["commands"][0]["ports"] == [8123], "it does not listen")
    assert living.inside("dev", "python3", "-c", CLIENT).stdout == "200\n"
    shown = living("ps").stdout
    assert "(port 8123)" in shown
    assert "dev" in shown
    logs = living("logs", "dev").stdout
    assert "[1] serving" in logs
    assert '"GET / HTTP/1.1" 200' in logs
    assert "[2] exit: 0" in logs
    assert "[2] 200" not in logs  # what a client printed is the client's
    ended = living("down", "dev")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "killed 1 command still running" in ended.stderr
    after = living("logs", "dev").stdout.splitlines()
    assert after[-1].endswith("sandbox: wardian down")
    assert any("[1] exit: " in line for line in after)


def test_logs_can_be_followed_to_the_end(living: Living) -> None:
    living.up("dev")
    with living.start("logs", "-f", "dev") as following:
        assert following.stdout is not None
        assert "dev started" in following.stdout.readline()
        living.inside("dev", "sh", "-c", "echo one; printf two", options=("--background",))
        living("down", "dev")
        lines = following.stdout.read()
        assert following.wait(timeout=30) == 0
    assert "[1] one\n" in lines
    assert "[1] two\n" in lines
    assert "[1] exit: 0\n" in lines


@pytest.mark.parametrize(
    ("command", "options", "code", "said"),
    [
        (("true",), (), 0, ""),
        (("sh", "-c", "exit 42"), (), 42, ""),
        (("sleep", "60"), ("--time", "200ms"), 124, "time limit of 0.2s"),
        (("/etc/passwd",), (), 126, "permission denied"),
        (("nonesuch",), (), 127, "not found inside the sandbox"),
        (("sh", "-c", "kill -9 $$"), (), 137, "signal 9 (SIGKILL)"),
        (("sh", "-c", "kill -15 $$"), (), 143, ""),
        (("true",), ("--cwd", "/nowhere"), 125, "error: "),
        (("true",), ("--work", "."), 125, "wardian up --work"),
        (("true",), ("--record", "x"), 125, "cannot be combined"),
        (("true",), ("--time", "soon"), 125, "--time"),
        (("true",), ("--env", "NOT_SET_ANYWHERE"), 125, "is not set in your environment"),
    ],
)  # fmt: skip
def test_exit_codes_are_those_of_exec(
    living: Living, command: tuple[str, ...], options: tuple[str, ...], code: int, said: str
) -> None:
    living.up("dev")
    done = living.inside("dev", *command, options=options)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if not said:  # what a fresh run says, but for what it used
        fresh = living("exec", "--", *command).stderr.splitlines()
        assert [line for line in done.stderr.splitlines() if not line.startswith("exit ")] == [
            line for line in fresh if not line.startswith("exit ")
        ]


def test_streams_pass_as_they_are(living: Living) -> None:
    living.up("dev")
    done = living.inside("dev", "sh", "-c", "cat; echo err >&2", stdin="line\n" * 100_000)
    assert (done.stdout, done.stderr) == ("line\n" * 100_000, "err\n")
    given = living.cwd / "file"
    given.write_bytes(bytes(range(256)) * 4096)
    with given.open("rb") as file:
        bare = subprocess.run(
            [*COMMAND, "exec", "--sandbox", "dev", "--", "cat"],
            stdin=file, capture_output=True, env=living.env, check=False, timeout=60,
        )  # fmt: skip
    assert bare.stdout == given.read_bytes()


def test_a_guest_has_no_file_of_the_callers(living: Living) -> None:
    """A file as standard stream is relayed: opened again inside, it would be the caller's."""
    living.up("dev")
    target = living.cwd / "out"
    with target.open("w") as out, target.open() as source:
        script = "readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2"
        living.start(
            "exec", "--sandbox", "dev", "--", "sh", "-c", script, stdin=source, stdout=out
        ).communicate(timeout=60)
    found = target.read_text().split()
    assert len(found) == 3
    assert all(line.startswith("pipe:[") for line in found)


def test_variables_and_refusals(living: Living) -> None:
    living.up("dev", "--env", "FROM=up", "--explain")
    done = living.inside("dev", "sh", "-c", "echo $FROM $MORE", options=("--env", "MORE=exec"))
    assert done.stdout == "up exec\n"
    secret = living.cwd / "secret"
    secret.write_text("x")
    done = living.inside("dev", "cat", str(secret), options=("-v",))
    assert done.returncode == 1
    assert f"--read {living.cwd}" in done.stderr
    assert "walls" in done.stderr
    assert living.inside("dev", "sh", "-c", "kill -9 $$", options=("-q",)).stderr == ""


def test_a_document_is_that_of_exec(living: Living) -> None:
    living.up("dev")
    done = living.inside("dev", "sh", "-c", "echo out; echo err >&2; exit 3", options=("--json",))
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 3
    assert (document["stdout"], document["stderr"]) == ("out\n", "err\n")
    assert document["schema"] == "wardian.result/1"
    assert document["sandbox"] == "dev"
    assert document["usage"]["stdout_bytes"] == 4
    fresh = json.loads(living("exec", "--json", "--", "true").stdout)
    assert set(document) - {"sandbox"} == set(fresh)


def test_output_beyond_the_limit_ends_the_command(living: Living) -> None:
    living.up("dev", "--output", "10K")
    done = living.inside("dev", "sh", "-c", "yes")
    assert len(done.stdout) == 10 << 10
    assert "output limit" in done.stderr
    assert living.inside("dev", "true").returncode == 0


def test_an_interrupt_ends_that_command_and_no_other(living: Living) -> None:
    living.up("dev")
    beside = living.start("exec", "--sandbox", "dev", "--", "sh", "-c", "echo up; read x; echo $x")
    # exec: between its fork and its wait, dash loses a SIGINT, on a bare host as well
    script = "echo up; exec sleep 60"
    ended = living.start("exec", "--sandbox", "dev", "--", "sh", "-c", script)
    for client in (beside, ended):
        assert client.stdout is not None
        assert client.stdout.readline() == "up\n"
    ended.send_signal(signal.SIGINT)
    assert ended.wait(timeout=30) == 130
    assert beside.communicate("still here\n", timeout=30)[0] == "still here\n"
    assert beside.returncode == 0


def test_signals_are_forwarded(living: Living) -> None:
    living.up("dev")
    script = "trap 'echo got; exit 5' USR1; echo up; while :; do sleep 0.1; done"
    client = living.start("exec", "--sandbox", "dev", "--", "sh", "-c", script)
    assert client.stdout is not None
    assert client.stdout.readline() == "up\n"
    client.send_signal(signal.SIGUSR1)
    assert client.communicate(timeout=30)[0] == "got\n"
    assert client.returncode == 5


def test_a_killed_client_takes_its_command_along(living: Living) -> None:
    living.up("dev")
    living.inside("dev", "sleep", "1000", options=("--background",))
    client = living.start("exec", "--sandbox", "dev", "--", "sh", "-c", "sleep 999 & echo up; wait")
    assert client.stdout is not None
    assert client.stdout.readline() == "up\n"
    client.kill()
    client.wait()
    until(lambda: len(living.status("dev")["commands"]) == 1, "the command goes on")
    shown = living.inside("dev", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    assert "sleep 1000" in shown
    assert "sleep 999" not in shown


def test_what_a_command_leaves_running_does_not_hold_the_client(living: Living) -> None:
    living.up("dev")
    done = living.inside("dev", "sh", "-c", "sleep 998 & echo started")
    assert (done.stdout, done.returncode) == ("started\n", 0)
    assert (
        "sleep 998"
        in living.inside("dev", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
    )


def test_many_clients_at_once(living: Living) -> None:
    living.up("dev")
    with ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda i: living.inside("dev", "echo", str(i)), range(20)))
    assert [one.stdout for one in done] == [f"{i}\n" for i in range(20)]
    assert {(one.returncode, one.stderr) for one in done} == {(0, "")}


def test_a_port_is_forwarded_while_its_client_lives(living: Living) -> None:
    living.up("dev")
    living.inside("dev", "python3", "-c", SERVER, options=("--background",))
    until(lambda: living.status("dev")["commands"][0]["ports"] == [8123], "it does not listen")
    with living.start("forward", "dev", "8123") as forward:
        assert forward.stdout is not None
        host, _, port = forward.stdout.readline().strip().partition(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"200 OK" in connection.recv(4096)
        forward.send_signal(signal.SIGINT)
        assert forward.wait(timeout=30) == 130
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=20)


@pytest.mark.parametrize("port", ["0", "65536", "x", "80:", ":80", "80:80:80", "-1"])
def test_what_is_no_port_is_refused(living: Living, port: str) -> None:
    living.up("dev")
    done = living("forward", "dev", "--", port)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")


def test_a_client_imports_little(living: Living) -> None:
    """Each module costs every command. What makes results readable is in the other process."""
    script = (
        "import sys; before = set(sys.modules)\n"
        "from wardian.cli import dispatch\n"
        "assert dispatch(['exec', '--sandbox', 'dev', '--', 'true']) == 0\n"
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    living.up("dev")
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, env=living.env,
    )  # fmt: skip
    found = set(done.stdout.split())
    others = {name for name in found if not name.startswith("wardian")}
    assert others <= MAY_IMPORT | {"_socket"}
    assert not {"threading", "collections", "functools"} & others
    ours = {name.split(".")[1] for name in found if name.count(".") == 1}
    assert ours <= {"cli", "errors", "homes", "living", "values"}
