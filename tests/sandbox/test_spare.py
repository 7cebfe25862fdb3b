"""A place made ahead of the next run: each run as in one made for it, whatever changes."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.pool.test_pool import gone_within, launchers
from wardian import Policy, Result, Sandbox, Share
from wardian.errors import SandboxError, UsageError
from wardian.sandbox.backends import spare

SOON_S = 20.0
TRUE = ["/bin/true"]
AS_ROOT = os.geteuid() == 0


def standing(sandbox: Sandbox, count: int = 2) -> int:
    """The launcher of its spare, after as many runs as that takes."""
    for _ in range(count):
        assert sandbox.run(TRUE).exit_code == 0
    return waiting()


def waiting() -> int:
    """The one launcher that is left, when those that were asked to have ended."""
    until = time.monotonic() + SOON_S
    while len(launchers()) != 1 and time.monotonic() < until:
        time.sleep(0.01)
    (pid,) = launchers()
    return pid


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.create(fresh=True) as made:
        yield made


def test_one_run_alone_pays_for_no_other(sandbox: Sandbox) -> None:
    assert sandbox.run(TRUE).exit_code == 0
    assert not launchers()


def test_each_is_used_once_and_replaced(sandbox: Sandbox) -> None:
    first = standing(sandbox)
    seen = {first}
    for _ in range(4):
        assert sandbox.run(["echo", "there"]).stdout == b"there\n"
        seen.add(waiting())
    assert len(seen) == 5


def test_closing_ends_it() -> None:
    sandbox = Sandbox.create(fresh=True)
    standing(sandbox)
    sandbox.close()
    assert not launchers()
    with pytest.raises(UsageError):
        sandbox.run(TRUE)


def test_one_of_a_sandbox_that_nobody_has_any_more_ends() -> None:
    sandbox = Sandbox.create(fresh=True)
    standing(sandbox)
    del sandbox
    gc.collect()
    gone_within(SOON_S)


def test_it_ends_by_itself_when_nobody_comes(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "UNUSED_S", 1)
    standing(sandbox)
    gone_within(SOON_S)
    assert sandbox.run(["echo", "there"]).stdout == b"there\n"


def test_one_that_had_a_command_in_time_does_not_end_by_itself(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "UNUSED_S", 1)
    standing(sandbox)
    assert sandbox.run(["sleep", "2"]).reason == "exited"


def test_one_that_waited_long_is_not_used(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "FRESH_S", 0.2)
    before = standing(sandbox)
    time.sleep(0.3)
    assert sandbox.run(["sh", "-c", "echo there; sleep 0.3"]).stdout == b"there\n"
    assert waiting() != before


def test_one_that_died_while_it_waited_is_not_used(sandbox: Sandbox) -> None:
    os.kill(standing(sandbox), signal.SIGKILL)
    gone_within(SOON_S)
    assert sandbox.run(["echo", "there"]).stdout == b"there\n"


def test_one_whose_walls_could_not_go_up_is_not_used(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = spare.record("sysctl", "1", "sys/no/such/thing")
    monkeypatch.setattr(spare, "records_of", lambda plan: broken)
    for _ in range(4):
        assert sandbox.run(["echo", "there"]).stdout == b"there\n"


def test_many_threads_each_get_their_own() -> None:
    failures: list[object] = []
    with Sandbox(private_work=True) as sandbox:
        standing(sandbox)

        def work(number: int) -> None:
            for _ in range(3):
                script = f"echo {number} > /work/x; cat /work/*; ls /work /tmp"
                result = sandbox.run(["sh", "-c", script])
                if result.stdout != b"%d\n/tmp:\n\n/work:\nx\n" % number:
                    failures.append(result)

        threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    assert not launchers()


def test_a_forked_process_has_no_say_in_it(sandbox: Sandbox) -> None:
    spare_pid = standing(sandbox)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = sandbox.run(["sh", "-c", "exit 7"]).exit_code
            sandbox.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert launchers() == {spare_pid}
    assert sandbox.run(["echo", "there"]).stdout == b"there\n"


def test_a_cancelled_run_ends_and_the_next_one_works(sandbox: Sandbox) -> None:
    standing(sandbox)

    async def cancelled() -> bytes:
        run = asyncio.ensure_future(sandbox.run_async(["sleep", "60"]))
        await asyncio.sleep(0.2)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return (await sandbox.run_async(["echo", "there"])).stdout

    assert asyncio.run(cancelled()) == b"there\n"


def test_closing_ends_the_run_that_has_it() -> None:
    sandbox = Sandbox.create(fresh=True)
    standing(sandbox)
    started, results = threading.Event(), list[Result]()

    def work() -> None:
        command = ["sh", "-c", "echo; sleep 60"]
        results.append(sandbox.run(command, on_stdout=lambda data: started.set()))

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(SOON_S)
    sandbox.close()
    thread.join(SOON_S)
    assert [result.reason for result in results] == ["killed"]
    assert not launchers()


# The same result

COMMANDS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "facts": (["sh", "-c", "echo $$; id; pwd; umask; hostname; ls -a / /tmp /dev /home/user"], {}),
    "variables": (["env"], {"env": {"A": "b"}}),
    "mounts": (["sh", "-c", "cut -d' ' -f2- /proc/self/mounts | sort"], {}),
    "walls": (["grep", "-E", "^(Cap|NoNew|Seccomp:|Uid|Gid|Groups|Sig)", "/proc/self/status"], {}),
    "processes": (["sh", "-c", "cd /proc; echo [0-9]*; cat 1/cmdline 1/environ"], {}),
    "descriptors": (["ls", "/proc/self/fd"], {}),
    "limits": (["sh", "-c", "ulimit -n -c -f -t -u -v; nice"], {}),
    "input": (["cat"], {"input": "in", "cwd": "/tmp"}),
    "code": (["sh", "-c", "echo out; echo err >&2; exit 3"], {}),
    "signal": (["sh", "-c", "kill -SEGV $$"], {}),
    "missing": (["no-such-program"], {}),
    "refused": (["cat", "/etc/shadow"], {}),
    "relative": (["cat", "pyproject.toml"], {}),
    "written": (["touch", "/usr/x"], {}),
    "time": (["sleep", "60"], {"timeout_s": 0.3}),
    "output": (["sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"], {}),
    "left": (["sh", "-c", "sleep 60 & sleep 0.3; echo"], {}),
}  # fmt: skip


def told(result: Result) -> dict[str, Any]:
    """What does not differ between two runs of one command."""
    refusals = sorted((one.kind, one.action, str(one.target)) for one in result.refusals)
    about = result._asdict()
    kept = ("command", "exit_code", "reason", "signal", "detail", "truncated", "protections")
    return {
        **{name: about[name] for name in kept},
        "stdout": result.stdout[:2000],
        "stderr": result.stderr,
        "limits": [one[:4] for one in result.limits],
        "refusals": refusals,
        "left": [one.command for one in result.left_running],
    }


@pytest.mark.parametrize("private", [False, True], ids=["work", "private-work"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_result_is_that_of_a_first_run(name: str, private: bool) -> None:
    command, options = COMMANDS[name]
    policy = Policy.default().with_limits(output_bytes=100_000)
    with Sandbox(policy, private_work=private) as sandbox:
        expected = told(sandbox.run(command, **options))
        before = standing(sandbox, 1)
        assert told(sandbox.run(command, **options)) == expected
        assert waiting() != before


def test_the_work_directory_lasts_and_nothing_else_does(sandbox: Sandbox) -> None:
    standing(sandbox)
    for number in range(3):
        script = f"ls -A /work /tmp ~ /dev/shm; touch /work/{number} /tmp/x ~/x /dev/shm/x"
        found = sandbox.run(["sh", "-c", script]).text.split()
        names = [str(one) for one in range(number)]
        assert found == ["/dev/shm:", "/home/user:", "/tmp:", "/work:", *names]


def test_what_others_wrote_while_it_waited_does_not_count() -> None:
    policy = Policy.default().with_limits(disk_bytes=20_000_000)
    with Sandbox(policy) as sandbox:
        standing(sandbox)
        Path(sandbox.work_path, "data").write_bytes(os.urandom(1 << 20) * 40)
        result = sandbox.run(["sh", "-c", "echo x > y; sleep 0.5"])
        assert result.reason == "exited"


# Something else than when it was made


def test_a_directory_put_in_the_place_of_a_shared_one_is_seen(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "name").write_text("old")
    with Sandbox(Policy.default().with_shares([Share(str(shared), "/mnt/s")])) as sandbox:
        standing(sandbox)
        assert sandbox.run(["cat", "/mnt/s/name"]).stdout == b"old"
        waiting()
        shared.rename(tmp_path / "before")
        shared.mkdir()
        (shared / "name").write_text("new")
        assert sandbox.run(["cat", "/mnt/s/name"]).stdout == b"new"
        waiting()
        (shared / "name").unlink()
        shared.rmdir()
        shared.symlink_to(tmp_path / "before")
        with pytest.raises(SandboxError):
            sandbox.run(["cat", "/mnt/s/name"])


def test_limits_and_priority_of_the_caller_are_those_of_the_moment() -> None:
    """In a process of its own: what is lowered can't always be raised again."""
    program = """
import os, resource
from wardian import Sandbox
with Sandbox.create(fresh=True) as sandbox:
    for _ in range(3):
        sandbox.run(["/bin/true"])
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 22, 1 << 22))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(sandbox.run(["sh", "-c", "nice; ulimit -s; nproc"]).text.split())
"""
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.decode() == f"['{min(nice + 5, 19)}', '4096', '1']\n"
    assert resource.getrlimit(resource.RLIMIT_STACK)[0] != 1 << 22


@pytest.mark.skipif(not AS_ROOT, reason="only root can mount")
def test_what_is_mounted_meanwhile_is_seen(tmp_path: Path) -> None:
    program = f"""
import subprocess
from wardian import Policy, Sandbox, Share
with Sandbox(Policy.default().with_shares([Share({str(tmp_path)!r}, "/mnt/s")])) as sandbox:
    for _ in range(3):
        sandbox.run(["/bin/true"])
    subprocess.run(["mount", "-t", "tmpfs", "none", {str(tmp_path / "there")!r}], check=True)
    open({str(tmp_path / "there" / "new")!r}, "w").close()
    print(sandbox.run(["ls", "/mnt/s/there"]).text)
"""
    (tmp_path / "there").mkdir()
    own = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", program]
    assert subprocess.run(own, capture_output=True, check=True).stdout == b"new\n\n"
