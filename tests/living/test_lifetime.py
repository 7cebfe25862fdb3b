"""What a living sandbox is called, what ends it, and what is left of it: nothing."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.command import COMMAND
from tests.living.conftest import Living
from tests.living.test_command_line import until


def below(pid: int) -> set[int]:
    """Every process that comes of one."""
    found: set[int] = set()
    left = [pid]
    while left:
        try:
            tasks = list(Path(f"/proc/{left.pop()}/task").iterdir())
            children = [
                int(word) for task in tasks for word in (task / "children").read_text().split()
            ]
        except OSError:
            continue
        found |= set(children)
        left += children
    return found


def alive(pid: int) -> bool:
    """Neither gone nor waiting to be waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_up_prints_its_name_and_nothing_else_on_stdout(living: Living) -> None:
    done = living("up")
    name = done.stdout.removesuffix("\n")
    assert "\n" not in name
    assert f"wardian exec --sandbox {name} -- COMMAND" in done.stderr
    assert living.inside(name, "true").returncode == 0
    document = json.loads(living("up", "other", "--json").stdout)
    assert document["name"] == "other"
    assert Path(document["socket"]).is_socket()


def test_a_name_is_taken_once(living: Living) -> None:
    living.up("dev")
    again = living("up", "dev")
    assert again.returncode == 125
    assert "sandbox dev exists already" in again.stderr
    assert "wardian down dev" in again.stderr
    assert living.inside("dev", "true").returncode == 0


def test_of_many_that_want_a_name_one_gets_it(living: Living) -> None:
    several = [living.start("up", "dev") for _ in range(6)]
    codes = sorted(one.wait(timeout=60) for one in several)
    assert codes == [0, 125, 125, 125, 125, 125]
    assert living.inside("dev", "true").returncode == 0


@pytest.mark.parametrize(
    "name",
    ["a/b", "..", ".", "../dev", "", "-x", "\x1b[31mred", "a b", "Dev", "a\nb", "é", "x" * 300,
     "$(id)"],
)  # fmt: skip
def test_a_name_that_is_not_safe_is_refused(living: Living, name: str) -> None:
    for args in (("up", "--", name), ("down", "--", name), ("logs", "--", name)):
        done = living(*args)
        assert done.returncode == 2
        assert "can't be the name of a sandbox" in done.stderr
        assert "\x1b" not in done.stderr
        assert len(done.stderr) < 600
    done = living("exec", f"--sandbox={name}", "--", "true")
    assert done.returncode == 125
    assert "can't be the name of a sandbox" in done.stderr
    assert not living.directory.exists() or not list(living.directory.iterdir())


def test_an_unknown_name_is_answered_with_those_there_are(living: Living) -> None:
    done = living.inside("build", "true")
    assert (done.returncode, "none is running" in done.stderr) == (125, True)
    living.up("builder")
    done = living.inside("build", "true")
    assert "did you mean builder?" in done.stderr
    assert living("down", "build").returncode == 3
    assert living("down").returncode == 2
    assert living("down", "--all", "builder").returncode == 2


def test_wrong_options_are_errors_before_anything_starts(living: Living) -> None:
    for args, said in (
        (("--idle", "soon"), "--idle"),
        (("--idle", "0s"), "--idle"),
        (("--work", "/nonexistent"), "/nonexistent"),
        (("--tty", "yes"), "--tty"),
        (("--backend", "host"), "--backend"),
        (("one", "two"), "unexpected argument"),
    ):
        done = living("up", *args)
        assert done.returncode in (2, 125)
        assert said in done.stderr
        assert done.stdout == ""
    assert living("ps").stdout == ""


def test_down_waits_until_nothing_is_left(living: Living) -> None:
    living.up("dev")
    living.inside("dev", "sh", "-c", "sleep 996 & exec sleep 995", options=("--background",))
    holder = living.status("dev")["pid"]
    everyone = {holder, *below(holder)}
    assert len(everyone) >= 5
    assert living("down", "dev").returncode == 0
    until(lambda: not any(map(alive, everyone)), "something is left", 2.0)
    assert not list(living.directory.glob("*.sock"))
    assert living("ps").stdout == ""


def test_down_all_ends_every_sandbox(living: Living) -> None:
    for name in ("one", "two", "three"):
        living.up(name)
    waiting = living.start("exec", "--sandbox", "two", "--", "sh", "-c", "echo up; sleep 60")
    assert waiting.stdout is not None
    waiting.stdout.readline()
    done = living("down", "--all", "--json")
    ended = {one["name"]: one["commands"] for one in json.loads(done.stdout)["ended"]}
    assert set(ended) == {"one", "two", "three"}
    assert ended["two"][0]["command"][-1] == "echo up; sleep 60"
    assert waiting.wait(timeout=30) in (125, 137)
    assert json.loads(living("ps", "--json").stdout) == {"schema": "wardian.ps/1", "sandboxes": []}


def test_a_killed_holder_leaves_nothing_behind(living: Living) -> None:
    living.up("dev")
    living.inside("dev", "sleep", "994", options=("--background",))
    client = living.start("exec", "--sandbox", "dev", "--", "sh", "-c", "echo up; sleep 993")
    assert client.stdout is not None
    client.stdout.readline()
    holder = living.status("dev")["pid"]
    inside = below(holder)
    os.kill(holder, signal.SIGKILL)
    until(lambda: not any(map(alive, inside)), "its processes go on")
    assert client.wait(timeout=30) == 125
    assert list(living.directory.glob("*.sock"))
    assert living("ps").stdout == ""  # sweeps
    assert not list(living.directory.glob("*.sock"))
    assert living.up("dev") == "dev"


def test_a_left_socket_is_recognised_by_each_command(
    living: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    living.directory.mkdir(mode=0o700)
    monkeypatch.chdir(living.directory)  # its path may be too long for bind
    for args, code in (
        (("exec", "--sandbox", "old", "--", "true"), 125),
        (("down", "old"), 3),
        (("up", "old"), 0),
    ):
        if not (living.directory / "old.sock").exists():
            left = socket.socket(socket.AF_UNIX)
            left.bind("old.sock")
            left.close()
        assert living(*args).returncode == code
    assert living.inside("old", "true").returncode == 0


def test_ps_does_not_wait_for_a_stopped_holder(living: Living) -> None:
    living.up("stuck")
    living.up("fine")
    holder = living.status("stuck")["pid"]
    os.kill(holder, signal.SIGSTOP)
    try:
        began = time.monotonic()
        found = {one["name"]: one for one in json.loads(living("ps", "--json").stdout)["sandboxes"]}
        assert time.monotonic() - began < 30
        assert "does not answer" in found["stuck"]["error"]
        assert "error" not in found["fine"]
    finally:
        os.kill(holder, signal.SIGCONT)
    assert living.inside("stuck", "true").returncode == 0


def test_it_ends_when_it_is_idle_and_not_before(living: Living) -> None:
    living.up("dev", "--idle", "2s")
    busy = living.start("exec", "--sandbox", "dev", "--", "sleep", "4")
    assert busy.wait(timeout=30) == 0  # longer than --idle
    until(lambda: not living.status("dev"), "it does not end", 15.0)
    assert "idle for" in living("logs", "dev").stdout.splitlines()[-1]
    assert not list(living.directory.glob("*.sock"))


def test_a_background_command_is_no_idleness(living: Living) -> None:
    living.up("dev", "--idle", "1s")
    living.inside("dev", "sleep", "4", options=("--background",))
    time.sleep(2.5)
    assert living.status("dev")["idle_s"] == 0
    until(lambda: not living.status("dev"), "it does not end", 15.0)


def test_a_holder_whose_sandbox_is_gone_ends(living: Living) -> None:
    living.up("dev")
    holder = living.status("dev")["pid"]
    (launcher,) = Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
    os.kill(int(launcher), signal.SIGKILL)
    until(lambda: not alive(holder), "it does not end", 15.0)
    assert "the sandbox itself ended" in living("logs", "dev").stdout.splitlines()[-1]


def test_a_holder_that_nobody_can_reach_ends(living: Living) -> None:
    """As when the login manager removes the runtime directory."""
    living.up("dev", "--keep")
    holder = living.status("dev")["pid"]
    (living.directory / "dev.sock").unlink()
    until(lambda: not alive(holder), "it does not end", 15.0)


@pytest.mark.parametrize("keep", [False, True])
def test_it_ends_with_the_session_of_its_terminal(living: Living, keep: bool) -> None:
    """A login shell on a pty starts it, and goes."""
    pid, terminal = pty.fork()
    if pid == 0:
        up = " ".join([*COMMAND, "up", "dev", *(["--keep"] if keep else [])])
        script = f"{up} >/dev/null; read line; exit 0"
        os.execve("/bin/sh", ["sh", "-c", script], living.env)  # noqa: S606
    try:
        until(lambda: bool(living.status("dev")), "it does not start")
        assert living.status("dev")["ends_with_pid"] == (None if keep else pid)
        time.sleep(0.5)
        assert living.inside("dev", "true").returncode == 0
        os.write(terminal, b"\n")
        os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    if keep:
        time.sleep(1)
        assert living.inside("dev", "true").returncode == 0
    else:
        until(lambda: not living.status("dev"), "it does not end", 15.0)
        assert "login session ended" in living("logs", "dev").stdout.splitlines()[-1]


def test_a_session_that_up_leads_itself_is_not_watched(living: Living) -> None:
    """As by ``ssh -t host wardian up``: else it would end as soon as it is up."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(COMMAND[0], [*COMMAND, "up", "dev"], living.env)  # noqa: S606
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    time.sleep(1)
    assert living.status("dev")["ends_with_pid"] is None
    assert living.inside("dev", "true").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_its_process_ends_it_cleanly_on_a_signal(living: Living, number: signal.Signals) -> None:
    living.up("dev")
    holder = living.status("dev")["pid"]
    inside = below(holder)
    os.kill(holder, number)
    until(lambda: not any(map(alive, {holder, *inside})), "something is left")
    assert not list(living.directory.glob("*.sock"))
    assert f"ended by {number.name}" in living("logs", "dev").stdout


def test_its_process_holds_nothing_of_its_caller(living: Living) -> None:
    """``name=$(wardian up)`` would wait for ever, and a pipe of the caller's stay open."""
    reader, writer = os.pipe()
    starting = living.start("up", "dev", pass_fds=[writer])
    os.close(writer)
    assert starting.communicate(timeout=30)[0] == "dev\n"
    assert select.select([reader], [], [], 10)[0], "it holds the pipe"
    assert os.read(reader, 1) == b""
    os.close(reader)
    holder = living.status("dev")["pid"]
    assert os.getsid(holder) == holder
    assert os.readlink(f"/proc/{holder}/cwd") == "/"
    assert {os.readlink(f"/proc/{holder}/fd/{fd}") for fd in (0, 1)} == {"/dev/null"}
    assert os.readlink(f"/proc/{holder}/fd/2") == str(living.directory / "dev.log")


def test_without_a_runtime_directory_the_users_state_has_the_sockets(
    living: Living, tmp_path: Path
) -> None:
    del living.env["XDG_RUNTIME_DIR"]
    living.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    living.directory = tmp_path / "state" / "wardian" / "sandboxes"
    living.up("dev")
    assert (living.directory / "dev.sock").is_socket()
    assert living.directory.stat().st_mode & 0o777 == 0o700
    assert living.inside("dev", "true").returncode == 0
