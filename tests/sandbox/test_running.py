"""``Sandbox.run``: words in, bytes out, exit codes, what was used, what was refused."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import wardian
from tests.conftest import MakeSandbox, launchers
from wardian import Policy, Sandbox
from wardian.errors import CommandFailed, PolicyError, SandboxError, UsageError

PYTHON = os.path.realpath(sys.executable)


def limited(**limits: float | None) -> Policy:
    return Policy.default().with_limits(**limits)


# Words


def test_a_list_never_passes_through_a_shell(sandbox: Sandbox) -> None:
    words = ["$HOME", "`id`", "a b", "", "*", "-n", "\n", "ü", "'\"\\"]
    assert sandbox.run(["printf", r"<%s>\n", *words]).text == "".join(f"<{w}>\n" for w in words)


def test_words_of_any_bytes_arrive_as_they_are(sandbox: Sandbox) -> None:
    odd = os.fsdecode(bytes(range(1, 256)))
    assert sandbox.run(["printf", "%s", odd]).stdout == os.fsencode(odd)
    long = "x" * 100_000
    assert sandbox.run(["printf", "%s", long]).text == long
    assert sandbox.run(["true", *["word"] * 20_000]).ok


@pytest.mark.parametrize("command", ["echo hi", b"echo hi", [], [""], ["a\0b"], ["true", "a\0"]])
def test_what_is_no_command_is_refused(command: list[str], sandbox: Sandbox) -> None:
    with pytest.raises(UsageError) as caught:
        sandbox.run(command)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("timeout_s", [0, -1])
def test_a_timeout_must_be_above_zero(timeout_s: float, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError):
        sandbox.run(["true"], timeout_s=timeout_s)


# Exit codes


@pytest.mark.parametrize("code", [0, 1, 2, 77, 124, 125, 126, 127, 137, 255])
def test_the_command_s_own_code_is_the_result_s(code: int, sandbox: Sandbox) -> None:
    result = sandbox.run(["sh", "-c", f"exit {code}"])
    assert (result.exit_code, result.reason, result.signal) == (code, "exited", None)
    assert result.ok is (code == 0)


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "ABRT", "PIPE", "USR1", "RTMIN"])
def test_death_by_a_signal_is_128_and_its_number(name: str, sandbox: Sandbox) -> None:
    number = signal.SIGRTMIN if name == "RTMIN" else signal.Signals[f"SIG{name}"]
    result = sandbox.run(["sh", "-c", f"kill -{int(number)} $$"])
    assert (result.exit_code, result.reason, result.signal) == (128 + number, "signal", number)


def test_a_missing_program_is_127(sandbox: Sandbox) -> None:
    for name in ("no-such-program", "/no/such/program", "./nothing", "/usr/bin/ls/deeper"):
        result = sandbox.run([name])
        assert result.exit_code in (126, 127) if name.endswith("deeper") else 127
        assert result.reason in ("not found", "not executable")
        assert name in result.detail


def test_a_file_that_can_t_be_executed_is_126(sandbox: Sandbox) -> None:
    sandbox.files.write("plain", "text")
    sandbox.files.write("empty", "", executable=True)
    sandbox.files.write("binary", b"\x7fELF" + b"\0" * 100, executable=True)
    sandbox.files.write("orphan", "#!/no/such/interpreter\n", executable=True)
    sandbox.files.write("dir/f", "")
    for name in ("plain", "empty", "binary", "orphan", "dir"):
        result = sandbox.run([f"./{name}"])
        assert (result.exit_code, result.reason) == (126, "not executable"), name
        assert result.detail, name


def test_check_turns_a_bad_end_into_an_exception(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"]).check().ok
    with pytest.raises(CommandFailed) as caught:
        sandbox.run(["sh", "-c", "exit 9"]).check()
    assert caught.value.result.exit_code == caught.value.exit_code == 9


def test_time_is_up_is_124(sandbox: Sandbox) -> None:
    start = time.monotonic()
    result = sandbox.run(["sh", "-c", "echo begun; trap '' TERM INT HUP; sleep 100"], timeout_s=0.4)
    assert (result.exit_code, result.reason) == (124, "time limit")
    assert result.text == "begun\n"
    assert time.monotonic() - start < 50
    assert [limit.name for limit in result.limits if limit.struck] == ["time"]


def test_a_timeout_tightens_the_policy_s_and_never_loosens_it(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limited(time_s=0.3))
    start = time.monotonic()
    assert sandbox.run(["sleep", "100"], timeout_s=100).exit_code == 124
    assert time.monotonic() - start < 50


# Where and with what


def test_the_environment_is_made_anew(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    shown = sandbox.run(["env"], env={"MINE": "a=b\nc", "EMPTY": ""}).text
    assert "SECRET" not in shown
    assert "MINE=a=b\nc\n" in shown
    assert "EMPTY=\n" in shown
    assert "LANG=de_DE.UTF-8\n" in shown
    assert "HOME=/home/user\n" in shown


def test_a_policy_s_variables_reach_the_guest_and_the_call_s_win(
    make_sandbox: MakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANTED", "passed")
    policy = Policy.default().but(pass_env=("WANTED",), set_env=(("A", "policy"),))
    run = make_sandbox(policy).run
    assert run(["sh", "-c", "echo $WANTED $A"]).text == "passed policy\n"
    assert run(["sh", "-c", "echo $WANTED $A"], env={"A": "call"}).text == "passed call\n"


@pytest.mark.parametrize("env", [{"A\0": "b"}, {"A": "b\0"}, {"": "x"}, {"A=B": "c"}])
def test_a_variable_that_can_t_be_is_refused(env: dict[str, str], sandbox: Sandbox) -> None:
    with pytest.raises(wardian.WardianError):
        sandbox.run(["env"], env=env)


def test_the_working_directory_is_work_or_the_one_named(sandbox: Sandbox) -> None:
    assert sandbox.run(["pwd"]).text == "/work\n"
    assert sandbox.run(["pwd"], cwd="/tmp").text == "/tmp\n"
    sandbox.files.write("sub/f", "")
    assert sandbox.run(["pwd"], cwd="/work/sub").text == "/work/sub\n"
    assert sandbox.run(["pwd"], cwd="sub").text == "/work/sub\n"


def test_a_working_directory_that_is_not_there_is_named(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="/no/such/dir") as caught:
        sandbox.run(["pwd"], cwd="/no/such/dir")
    assert caught.value.exit_code == 125
    assert "--cwd" in (caught.value.hint or "")


# Input and output


def test_input_of_several_megabytes_goes_through(sandbox: Sandbox) -> None:
    data = os.urandom(5 << 20)
    assert sandbox.run(["cat"], input=data).stdout == data
    assert sandbox.run(["wc", "-c"], input="ü" * 1000).text == "2000\n"


def test_input_that_nobody_reads_harms_nobody(sandbox: Sandbox) -> None:
    assert sandbox.run(["true"], input=b"x" * (5 << 20)).exit_code == 0
    assert sandbox.run(["head", "-c", "3"], input=b"abcdef" * 500_000).stdout == b"abc"


def test_without_input_there_is_an_end_at_once(sandbox: Sandbox) -> None:
    assert sandbox.run(["cat"]).stdout == b""
    assert sandbox.run(["cat"], input=b"").stdout == b""


def test_output_is_bytes_and_its_streams_are_apart(sandbox: Sandbox) -> None:
    program = "import os; os.write(1, bytes(range(256))); os.write(2, b'\\xff\\0err')"
    result = sandbox.run([PYTHON, "-c", program])
    assert result.stdout == bytes(range(256))
    assert result.stderr == b"\xff\0err"
    assert "\ufffd" in result.text


def test_much_output_on_both_streams_at_once_does_not_lock_up(sandbox: Sandbox) -> None:
    program = (
        "import os, threading;"
        "w = lambda fd: [os.write(fd, b'x' * 65536) for _ in range(80)];"
        "t = [threading.Thread(target=w, args=(fd,)) for fd in (1, 2)];"
        "[x.start() for x in t]; [x.join() for x in t]"
    )
    result = sandbox.run([PYTHON, "-c", program], timeout_s=60)
    assert (len(result.stdout), len(result.stderr)) == (80 << 16, 80 << 16)
    assert result.usage.stdout_bytes == 80 << 16


@pytest.mark.parametrize("size", [1000, 100_000])
def test_output_is_bounded_and_told(size: int, make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limited(output_bytes=size))
    result = sandbox.run(["sh", "-c", "yes; echo never"], timeout_s=30)
    assert result.truncated
    assert (result.exit_code, result.reason) == (137, "output limit")
    assert len(result.stdout) == size
    assert [limit.name for limit in result.limits if limit.struck] == ["output"]


def test_output_of_exactly_the_limit_is_whole(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limited(output_bytes=1000))
    result = sandbox.run(["head", "-c", "1000", "/dev/zero"])
    assert (len(result.stdout), result.truncated, result.exit_code) == (1000, False, 0)
    assert sandbox.run(["head", "-c", "1001", "/dev/zero"]).truncated
    both = sandbox.run(["sh", "-c", "head -c 600 /dev/zero; head -c 600 /dev/zero >&2; sleep 9"])
    assert both.truncated
    assert len(both.stdout) + len(both.stderr) == 1000


def test_a_grandchild_that_keeps_the_pipe_does_not_hold_the_run(sandbox: Sandbox) -> None:
    start = time.monotonic()
    script = "(setsid sleep 100 &) ; setsid sh -c 'sleep 100; echo late' & echo early"
    result = sandbox.run(["sh", "-c", script])
    assert (result.text, result.exit_code) == ("early\n", 0)
    assert time.monotonic() - start < 50


def test_the_last_bytes_of_a_dying_guest_arrive(sandbox: Sandbox) -> None:
    for _ in range(10):
        result = sandbox.run(["sh", "-c", "head -c 200000 /dev/zero; kill -9 $$"])
        assert len(result.stdout) == 200_000


def test_callbacks_see_the_pieces_as_they_come(sandbox: Sandbox) -> None:
    """The guest goes on only once the first has been seen."""
    seen: list[bytes] = []
    errors: list[bytes] = []

    def on_stdout(data: bytes) -> None:
        seen.append(data)
        sandbox.files.write("go", b"")

    result = sandbox.run(
        ["sh", "-c", "echo one; echo bad >&2; until [ -e go ]; do sleep 0.1; done; echo two"],
        on_stdout=on_stdout,
        on_stderr=errors.append,
        timeout_s=60,
    )
    assert seen[0] == b"one\n"
    assert b"".join(seen) == b"one\ntwo\n"
    assert b"".join(errors) == b"bad\n"
    assert (result.stdout, result.stderr) == (b"", b"")
    assert (result.usage.stdout_bytes, result.usage.stderr_bytes) == (8, 4)


def test_what_a_callback_took_is_kept_if_asked_for_and_the_other_stream_always(
    sandbox: Sandbox,
) -> None:
    seen: list[bytes] = []
    script = ["sh", "-c", "echo one; echo bad >&2"]
    result = sandbox.run(script, on_stdout=seen.append)
    assert (result.stdout, result.stderr) == (b"", b"bad\n")
    result = sandbox.run(script, on_stdout=seen.append, keep=True)
    assert (result.stdout, result.stderr) == (b"one\n", b"bad\n")
    assert b"".join(seen) == b"one\none\n"


def test_a_callback_that_raises_ends_the_run_and_its_error_comes_through(sandbox: Sandbox) -> None:
    def fail(_: bytes) -> None:
        raise RuntimeError("enough")

    sandbox.run(["true"])  # its work directory and its place stay open until it is closed
    before = len(os.listdir("/proc/self/fd"))
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        sandbox.run(["sh", "-c", "echo x; sleep 100"], on_stdout=fail)
    assert time.monotonic() - start < 50
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def interrupt_after() -> Iterator[Callable[[float], None]]:
    """Raises KeyboardInterrupt that many seconds later, as Ctrl-C would."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    yield lambda delay_s: signal.setitimer(signal.ITIMER_REAL, delay_s)  # type: ignore[misc]
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def children_end(timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while launchers() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not launchers()


@pytest.mark.parametrize("most_s", [0.004, 0.1], ids=["while it starts", "while it runs"])
def test_an_interruption_at_any_moment_leaves_no_guest(
    most_s: float, fresh_sandbox: Sandbox, interrupt_after: Callable[[float], None]
) -> None:
    """Ctrl-C in a program that uses wardian."""
    fresh_sandbox.run(["true"])
    before = sorted(os.listdir("/proc/self/fd"))
    chance = random.Random(1)
    for _ in range(30):
        delay_s = chance.uniform(0.0001, most_s)
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the clock is part of it
            interrupt_after(delay_s)
            fresh_sandbox.run(["sleep", "100"])
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert children_end(20)


# What the result tells


def test_what_was_used_is_told(sandbox: Sandbox) -> None:
    program = (
        "import time; x = bytearray(60 << 20); end = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass"
    )
    usage = sandbox.run([PYTHON, "-c", program], input=b"12345").usage
    assert usage.peak_memory_bytes > 60 << 20
    assert 0.25 < usage.cpu_s < 3
    assert usage.wall_s >= 0.25
    assert usage.processes == 1
    assert sandbox.run(["sh", "-c", "true; /bin/true; /bin/true; :"]).usage.processes == 3


def test_every_wall_is_told_and_stands(sandbox: Sandbox) -> None:
    result = sandbox.run(["true"])
    names = {p.name for p in result.protections}
    assert {"namespace.user", "seccomp", "landlock", "capabilities", "namespace.network"} <= names
    for protection in result.protections:
        if protection.requested and protection.available:
            assert protection.enforced, protection


def test_a_wall_that_was_given_up_is_told(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(Policy.default().but(degrade=("notify", "landlock")))
    result = sandbox.run(["unshare", "-U", "true"])
    told = {p.name: p for p in result.protections}
    assert (told["notify"].requested, told["notify"].enforced) == (True, False)
    assert (told["landlock"].requested, told["landlock"].enforced) == (True, False)
    assert result.exit_code != 0
    assert result.refusals == ()


def test_a_refusal_is_told_with_its_reason(sandbox: Sandbox) -> None:
    result = sandbox.run(["unshare", "-U", "true"])
    assert result.exit_code != 0
    refusal = next(one for one in result.refusals if one.kind == "syscall")
    assert refusal.action == "unshare"
    assert refusal.process.command.startswith("unshare ")
    assert refusal.reason
    assert sandbox.run(["true"]).refusals == ()


def test_the_document_is_json_and_complete(sandbox: Sandbox) -> None:
    result = sandbox.run(["printf", "\\377"])
    document = json.loads(json.dumps(result.document(output=True)))
    for key in ("schema", "command", "exit_code", "signal", "reason", "usage", "limits"):
        assert key in document
    assert document["policy_digest"] == sandbox.policy.digest
    assert document["stdout"] == "\ufffd"
    assert "stdout" not in result.document()


def test_limits_name_their_mechanism(sandbox: Sandbox) -> None:
    limits = {limit.name: limit for limit in sandbox.run(["true"]).limits}
    assert limits["processes"].mechanism
    assert limits["time"].value == sandbox.policy.limits.time_s
    assert not any(limit.struck for limit in limits.values())


# Limits that strike


@pytest.mark.parametrize(
    ("limits", "program", "name"),
    [
        ({"cpu_s": 0.5}, "while True: pass", "cpu"),
        ({"memory_bytes": 100 << 20}, "x = []\nwhile True: x.append(b'1' * (1 << 20))", "memory"),
    ],
)
def test_a_limit_strikes_and_is_named(
    limits: dict[str, float], program: str, name: str, make_sandbox: MakeSandbox
) -> None:
    result = make_sandbox(limited(**limits)).run([PYTHON, "-c", program], timeout_s=60)
    assert result.reason == f"{name} limit", result
    assert result.exit_code == 137
    assert [limit.name for limit in result.limits if limit.struck] == [name]


def test_files_in_memory_count_as_memory(make_sandbox: MakeSandbox) -> None:
    """A write is refused; where other memory comes to the limit first, the guest is ended."""
    program = "f = open('/tmp/f', 'wb')\nwhile True: f.write(bytes(1 << 20))"
    sandbox = make_sandbox(limited(memory_bytes=100 << 20))
    result = sandbox.run([PYTHON, "-c", program], timeout_s=60)
    refused = b"No space left on device" in result.stderr
    assert (result.reason, result.exit_code) in [("memory limit", 137)] or refused, result
    assert result.usage.peak_memory_bytes <= 120 << 20


def test_one_file_does_not_outgrow_the_disk_limit(make_sandbox: MakeSandbox) -> None:
    """The kernel refuses the write, which a guest sees before any watch does."""
    program = """
import errno, os
with open('f', 'wb', buffering=0) as file:
    print(file.write(bytes(4 << 20)))
    try:
        file.write(b'x')
    except OSError as error:
        print(errno.errorcode[error.errno], os.fstat(file.fileno()).st_size, flush=True)
"""
    result = make_sandbox(limited(disk_bytes=1 << 20)).run([PYTHON, "-c", program], timeout_s=60)
    assert result.text.split() == [str(1 << 20), "EFBIG", str(1 << 20)]


FORKS = """
import os, time
n = 0
try:
    while n < 100:
        if os.fork() == 0: time.sleep(9); os._exit(0)
        n += 1
except OSError as error: print(n, error.errno)
"""
OPENS = """
import os
try:
    while True: os.open('/dev/null', 0)
except OSError as error: print(error.errno)
"""


def test_processes_and_open_files_are_counted(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(limited(processes=10, files=32))
    made, error = sandbox.run([PYTHON, "-c", FORKS]).text.split()
    assert 5 <= int(made) <= 10
    assert error == "11"
    assert sandbox.run([PYTHON, "-c", OPENS]).text == "24\n"


# Many at once


def test_many_threads_run_at_once_and_get_their_own(sandbox: Sandbox) -> None:
    answers: dict[int, str] = {}

    def work(n: int) -> None:
        for i in range(5):
            result = sandbox.run(["sh", "-c", f"echo {n}-{i}; cat"], input=f"in{n}")
            answers[n * 10 + i] = result.text

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert answers == {n * 10 + i: f"{n}-{i}\nin{n}" for n in range(16) for i in range(5)}


def test_a_run_leaves_no_descriptor_and_no_child() -> None:
    """But for the place that waits for the next run, until the sandbox is closed."""
    before = sorted(os.listdir("/proc/self/fd"))
    with Sandbox.create(fresh=True) as sandbox:
        for _ in range(10):
            sandbox.run(["true"], input=b"x")
            sandbox.run(["no-such-program"])
            assert len(launchers()) <= 3  # and the last ones, which are about to end
            assert len(os.listdir("/proc/self/fd")) <= len(before) + 16
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert not launchers()


def test_the_host_s_files_processes_and_names_are_not_there(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)  # no Python of the home's is active
    home = os.path.expanduser("~")
    for path in (home, "/etc/shadow", "/etc/machine-id", "/var/log", "/run", "/sys/kernel"):
        assert sandbox.run(["ls", path]).exit_code == 2, path
    assert sandbox.run(["hostname"]).text in ("wardian\n", "")
    pids = sandbox.run(["sh", "-c", "ls /proc | grep -c '^[0-9]'"]).text
    assert int(pids) <= 5


def test_an_unknown_backend_is_told(make_sandbox: MakeSandbox) -> None:
    with pytest.raises(UsageError, match="no backend 'docker'"):
        make_sandbox(backend="docker")


def test_closing_twice_is_fine_and_running_after_it_is_refused() -> None:
    sandbox = Sandbox.create()
    sandbox.files.write("f", "x")
    assert sandbox.run(["cat", "f"]).text == "x"
    sandbox.close()
    sandbox.close()
    with pytest.raises(wardian.WardianError):
        sandbox.run(["true"])


def test_the_public_names_are_all_there() -> None:
    for name in wardian.__all__:
        assert getattr(wardian, name) is not None
    with pytest.raises(AttributeError):
        _ = wardian.Nothing  # type: ignore[attr-defined]


def test_what_one_run_writes_the_next_one_sees(fresh_sandbox: Sandbox, tmp_path: Path) -> None:
    assert fresh_sandbox.run(["sh", "-c", "echo kept > /work/f; echo gone > /tmp/g"]).ok
    assert fresh_sandbox.run(["cat", "/work/f"]).text == "kept\n"
    assert fresh_sandbox.run(["cat", "/tmp/g"]).exit_code == 1
    assert [one.name for one in fresh_sandbox.files.list()] == ["f"]


def test_a_policy_that_denies_what_every_run_needs_is_refused_at_once() -> None:
    box = Sandbox.create(Policy.default().but(deny_syscalls=("sendmsg",)))
    with pytest.raises(PolicyError, match="sendmsg can't be denied"):
        box.run(["true"], timeout_s=20)


def test_space_in_a_range_that_no_file_has_is_refused_as_by_the_kernel(
    make_sandbox: MakeSandbox,
) -> None:
    program = (
        "import ctypes, os\n"
        "fall = ctypes.CDLL(None, use_errno=True).fallocate\n"
        "fall.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]\n"
        "fd = os.open('f', os.O_RDWR | os.O_CREAT)\n"
        "for offset, length in [(-1, 1 << 40), (0, 0), (0, -1), (1, (1 << 63) - 1)] * 4:\n"
        "    fall(fd, 0, offset, length); print(ctypes.get_errno())\n"
        "print(fall(fd, 0, 0, 1 << 20), fall(fd, 0, 0, 1 << 30), ctypes.get_errno())\n"
    )
    sandbox = make_sandbox(Policy.default().with_limits(disk_bytes=16 << 20))
    result = sandbox.run(["/usr/bin/python3", "-c", program])
    refused = [errno.EINVAL, errno.EINVAL, errno.EINVAL, errno.EFBIG] * 4
    # They take nothing of the disk limit; what is within it works, what is beyond it does not.
    assert result.text.split() == [*map(str, refused), "0", "-1", str(errno.ENOSPC)]
