"""What commands of one place share, and what each has of its own."""

from __future__ import annotations

import os
import time

import pytest

from wardian import Policy, Sandbox
from wardian.errors import SandboxError, UsageError

from .conftest import launcher_of, python


@pytest.mark.parametrize("where", ["/tmp", "$HOME", "/dev/shm", "/work"])
def test_files_of_one_command_are_there_for_the_next(place: Sandbox, where: str) -> None:
    assert place.run(["sh", "-c", f"echo mine > {where}/file"]).ok
    assert place.run(["sh", "-c", f"cat {where}/file"]).text == "mine\n"


@pytest.mark.parametrize("where", ["/tmp", "$HOME"])
def test_fresh_runs_share_only_the_work_directory(where: str) -> None:
    with Sandbox.create(fresh=True) as sandbox:
        assert not sandbox.living
        assert sandbox.run(["sh", "-c", f"echo mine > {where}/file; echo ours > /work/file"]).ok
        assert sandbox.run(["sh", "-c", f"cat {where}/file"]).exit_code != 0
        assert sandbox.run(["cat", "/work/file"]).text == "ours\n"


def test_processes_and_loopback_are_shared(place: Sandbox) -> None:
    server = place.start(
        python(
            "import socket\ns = socket.create_server(('127.0.0.1', 4000)); print('up', flush=True)\n"
            "while True: c, _ = s.accept(); c.sendall(b'hello'); c.close()"
        ),
        background=True,
    )
    assert next(iter(server.stdout)) == b"up\n"
    client = "import socket; print(socket.create_connection(('127.0.0.1', 4000)).recv(9).decode())"
    assert place.run(python(client)).text == "hello\n"
    assert "create_server" in place.run(["sh", "-c", "cat /proc/[0-9]*/cmdline"]).text


def test_each_command_has_its_own_session_streams_and_directory(place: Sandbox) -> None:
    look = "import os; print(os.getsid(0) == os.getpid(), os.getcwd(), sorted(os.listdir('/proc/self/fd')))"
    for cwd in ("/work", "/tmp"):
        assert place.run(python(look), cwd=cwd).text == f"True {cwd} ['0', '1', '2', '3']\n"


def test_no_variable_of_one_command_is_in_the_next(place: Sandbox) -> None:
    assert place.run(["printenv", "SECRET"], env={"SECRET": "x"}).text == "x\n"
    assert place.run(["printenv", "SECRET"]).exit_code == 1


def test_signals_are_as_they_are_at_a_terminal(place: Sandbox) -> None:
    """No mask, and nothing ignored, of pid 1's or the caller's."""
    status = place.run(["grep", "^Sig[BI]", "/proc/self/status"]).text
    assert [line.split()[1] for line in status.splitlines()] == ["0" * 16, "0" * 16]


def test_a_command_that_has_ended_leaves_what_it_started_and_says_so(place: Sandbox) -> None:
    result = place.run(["sh", "-c", "sleep 60 & sleep 0.3; echo $!"])
    assert [one.command for one in result.left_running] == ["sleep 60"]
    pid = result.text.strip()
    assert int(pid) == result.left_running[0].pid
    assert place.run(["kill", "-0", pid]).ok
    assert place.run(["true"]).left_running == ()


def test_what_is_left_running_and_writes_on_holds_nobody_up(place: Sandbox) -> None:
    began = time.monotonic()
    result = place.run(["sh", "-c", "while :; do echo x; done & sleep 0.1"], timeout_s=30)
    assert result.reason == "exited"
    assert time.monotonic() - began < 20


def test_results_carry_limits_and_protections(place: Sandbox) -> None:
    with Sandbox.create(fresh=True) as fresh:
        there, here = fresh.run(["true"]), place.run(["true"])
    assert here.protections == there.protections
    assert here.limits == there.limits


def test_a_program_outside_of_the_place_is_an_error_with_a_cure(tmp_path: object) -> None:
    program = f"{tmp_path}/tool"
    with open(program, "w") as file:
        file.write("#!/bin/sh\necho tool\n")
    os.chmod(program, 0o755)
    os.chmod(f"{tmp_path}", 0o755)
    with Sandbox.create() as sandbox:
        sandbox.run(["true"])
        with pytest.raises(SandboxError) as failed:
            sandbox.run([program])
        assert "programs=" in str(failed.value.hint)
        assert sandbox.run(["true"]).ok
    with Sandbox.create(programs=[program]) as sandbox:
        sandbox.run(["true"])
        assert sandbox.run([program]).text == "tool\n"


def test_two_sandboxes_share_nothing(place: Sandbox) -> None:
    place.run(["sh", "-c", "echo mine > /tmp/file; sleep 60 &"])
    with Sandbox.create() as other:
        assert other.run(["cat", "/tmp/file"]).exit_code != 0
        assert "sleep" not in other.run(["sh", "-c", "cat /proc/[0-9]*/cmdline"]).text


def test_a_command_s_directory_can_be_gone_and_the_place_goes_on(place: Sandbox) -> None:
    with pytest.raises(SandboxError, match="/tmp/gone"):
        place.run(["true"], cwd="/tmp/gone")
    assert place.run(["no-such-program"]).exit_code == 127
    assert place.run(["/etc/passwd"]).exit_code == 126
    assert place.run(["true"]).ok


def test_a_closed_sandbox_takes_no_command(place: Sandbox) -> None:
    place.run(["true"])
    pid = launcher_of(place)
    place.close()
    assert not os.path.exists(f"/proc/{pid}")
    with pytest.raises(UsageError, match="closed"):
        place.run(["true"])
    with pytest.raises(UsageError, match="closed"):
        place.connect(80)
    place.close()


def test_what_a_fresh_sandbox_can_t_do_says_so() -> None:
    with Sandbox.create(fresh=True) as sandbox:
        for act in (
            lambda: sandbox.connect(80),
            lambda: sandbox.forward(80),
            lambda: sandbox.start(["true"], pty=True),
            lambda: sandbox.start(["true"], background=True),
        ):
            with pytest.raises(UsageError, match="living"):
                act()


def test_a_policy_s_own_variables_hold_for_every_command() -> None:
    policy = Policy.default()._replace(set_env=(("A", "b"),))
    with Sandbox.create(policy) as sandbox:
        for _ in range(2):
            assert sandbox.run(["printenv", "A"]).text == "b\n"
