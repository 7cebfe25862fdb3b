"""``wardian exec``: options, exit codes, streams, signals."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import COMMAND, Wardian, environment


def test_the_guests_exit_code_is_ours(wardian: Wardian) -> None:
    assert wardian("exec", "--", "true").returncode == 0
    assert wardian("exec", "--", "sh", "-c", "exit 7").returncode == 7


def test_a_quiet_run_says_nothing_of_its_own(wardian: Wardian) -> None:
    done = wardian("exec", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_options_end_at_the_first_word_of_the_command(wardian: Wardian) -> None:
    assert wardian("exec", "echo", "--json", "-v").stdout == "--json -v\n"
    assert wardian("exec", "--", "echo", "--", "x").stdout == "-- x\n"


def test_standard_input_reaches_the_guest(wardian: Wardian) -> None:
    assert wardian("exec", "--", "cat", stdin="hello").stdout == "hello"


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--", "no-such-program"), 127, "no-such-program: not found"),
        (("--", "/tmp"), 126, "/tmp: "),
        (("--time", "300ms", "--", "sleep", "60"), 124, "ended by the time limit"),
        (("--", "sh", "-c", "kill -SEGV $$"), 139, "SIGSEGV"),
        (("--output", "1k", "--", "sh", "-c", "yes"), 137, "output limit of 1K"),
    ],
)
def test_an_end_that_needs_explaining_is_explained(
    wardian: Wardian, args: tuple[str, ...], code: int, said: str
) -> None:
    done = wardian("exec", *args)
    assert done.returncode == code
    assert said in done.stderr
    assert wardian("exec", "-q", *args).stderr == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "no command given"),
        (("--",), "no command given"),
        (("--bogus", "--", "true"), "unknown option --bogus"),
        (("--memry", "1G", "--", "true"), "did you mean --memory?"),
        (("--mem", "1G", "--", "true"), "unknown option --mem"),
        (("--memory",), "--memory needs a value"),
        (("--json=yes", "--", "true"), "--json takes no value"),
        (("--memory", "1G", "--memory", "2G", "--", "true"), "only once"),
        (("--memory", "5 apples", "--", "true"), "is not a size"),
        (("--memory", "1e9", "--", "true"), "is not a size"),
        (("--time", "-1", "--", "true"), "is not a duration"),
        (("--processes", "0", "--", "true"), "is not a number above 0"),
        (("--net", "all", "--", "true"), "is not none, ask, host or a host name"),
        (("--net", "*.com", "--", "true"), "wider than a rule may be"),
        (("--net", "none", "--net", "host", "--", "true"), "cannot be combined"),
        (("--tty", "maybe", "--", "true"), "is not auto, yes or no"),
        (("--tty", "yes", "--", "true"), "needs a terminal"),
        (("--read", "/does/not/exist", "--", "true"), "/does/not/exist"),
        (("--read", "", "--", "true"), "must be a path"),
        (("--work", "", "--", "true"), "must be a directory"),
        (("--write", "/", "--", "true"), "the whole host"),
        (("--write", "/proc", "--", "true"), "/proc"),
        (("--env", "NOT_SET_ANYWHERE", "--", "true"), "is not set in your environment"),
        (("--env", "=x", "--", "true"), "environment variable"),
        (("--policy", "nonesuch", "--", "true"), "there is no preset"),
        (("--policy", "./nonesuch.toml", "--", "true"), "nonesuch.toml"),
        (("--backend", "nonesuch", "--", "true"), "there is no backend"),
        (("--degrade", "nonesuch", "--", "true"), "there is no protection"),
        (("--degrade", "seccomp", "--", "true"), "can't be given up"),
        (("--cwd", "/does/not/exist", "--", "true"), "/does/not/exist"),
        (("",), "a command needs a program"),
    ],
)
def test_what_wardian_refuses_is_125_and_says_why(
    wardian: Wardian, args: tuple[str, ...], said: str
) -> None:
    done = wardian("exec", *args)
    assert done.returncode == 125
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_was_not_shared_is_pointed_out(wardian: Wardian, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\necho hi\n")
    script.chmod(0o755)
    done = wardian("exec", "--", "./script.sh")
    assert done.returncode == 127
    assert (
        "hint: ./script.sh exists on the host but is not shared; to share it: --work ."
        in done.stderr
    )
    assert wardian("exec", "--work", ".", "--", "./script.sh").stdout == "hi\n"
    done = wardian("exec", "--", "./nowhere")
    assert done.returncode == 127
    assert done.stderr == "wardian: ./nowhere: not found inside the sandbox\n"


def test_work_is_shared_and_relative_paths_count_from_here(
    wardian: Wardian, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("hello")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "data").write_text("data")
    command = ("sh", "-c", "pwd; tr a-z A-Z < in.txt > out.txt; cat /mnt/more/data")
    done = wardian("exec", "--work", ".", "--read", "more:/mnt/more", "--", *command)
    assert (done.returncode, done.stdout) == (0, "/work\ndata")
    assert (tmp_path / "out.txt").read_text() == "HELLO"


def test_read_can_not_be_written_and_write_can(wardian: Wardian, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    script = "touch /mnt/one/x; touch /mnt/two/x"
    wardian("exec", "--read", "one:/mnt/one", "--write", "two:/mnt/two", "--", "sh", "-c", script)
    assert not (tmp_path / "one" / "x").exists()
    assert (tmp_path / "two" / "x").exists()


def test_without_work_it_is_private_and_gone_afterwards(wardian: Wardian, tmp_path: Path) -> None:
    before = set(os.listdir("/tmp"))
    done = wardian("exec", "--", "sh", "-c", "pwd; echo x > file; ls")
    assert done.stdout == "/work\nfile\n"
    assert list(tmp_path.iterdir()) == []
    left = {name for name in set(os.listdir("/tmp")) - before if name.startswith("wardian")}
    assert {name for name in left if str(os.getpid()) in name} == set()


def test_cwd_counts_from_work(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert wardian("exec", "--work", ".", "--cwd", "sub", "--", "pwd").stdout == "/work/sub\n"
    assert wardian("exec", "--cwd", "/tmp", "--", "pwd").stdout == "/tmp\n"


def test_only_named_variables_pass(wardian: Wardian) -> None:
    script = "echo ${SECRET-unset} ${PASSED-unset} ${GIVEN-unset}"
    args = ("--env", "PASSED", "--env", "GIVEN=a=b", "--", "sh", "-c", script)
    done = wardian("exec", *args, SECRET="s", PASSED="p")
    assert done.stdout == "unset p a=b\n"


def test_a_policy_file_is_the_base_and_options_win(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[limits]\ntime = "1h"\nfiles = 77\n')
    done = wardian("exec", "--policy", "own.toml", "--time", "5m", "--json", "--", "true")
    limits = {limit["name"]: limit["value"] for limit in json.loads(done.stdout)["limits"]}
    assert (limits["time"], limits["files"]) == (300, 77)


def test_a_wrong_policy_file_is_told_with_line_and_column(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[limits]\nmemroy = "1G"\n')
    done = wardian("exec", "--policy", "own.toml", "--", "true")
    assert done.returncode == 125
    assert "own.toml:2:1: unknown key 'memroy'" in done.stderr
    assert "hint: did you mean 'memory'?" in done.stderr


def test_json_holds_the_output_and_nothing_else_is_on_stdout(wardian: Wardian) -> None:
    script = "cat; echo err >&2; exit 5"
    done = wardian("exec", "--json", "--", "sh", "-c", script, stdin="in")
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 5
    assert (document["stdout"], document["stderr"]) == ("in", "err\n")
    assert "stdout_base64" not in document
    assert done.stderr == ""


def test_json_carries_bytes_that_are_not_text(wardian: Wardian) -> None:
    document = json.loads(wardian("exec", "--json", "--", "printf", r"\377\000x").stdout)
    assert base64.b64decode(document["stdout_base64"]) == b"\xff\x00x"
    assert document["stdout"] == "�\0x"


def test_json_tells_errors_as_a_document_too(wardian: Wardian) -> None:
    done = wardian("exec", "--json", "--read", "/does/not/exist", "--", "true")
    document = json.loads(done.stdout)
    assert document["schema"] == "wardian.error/1"
    assert document["error"]["class"] == "ShareError"
    assert document["error"]["exit_code"] == done.returncode == 125
    assert done.stderr.startswith("error: ")


def test_a_terminal_and_a_document_exclude_each_other(wardian: Wardian) -> None:
    done = wardian("exec", "--tty", "yes", "--json", "--", "true")
    assert done.returncode == 125
    assert "cannot be combined" in done.stderr


def test_a_json_flag_of_the_guest_is_not_ours(wardian: Wardian) -> None:
    assert wardian("exec", "--bogus", "--", "x", "--json").stdout == ""


def test_verbose_tells_walls_limits_and_usage(wardian: Wardian) -> None:
    done = wardian("exec", "-v", "--", "true")
    for word in ("namespace.user", "seccomp", "enforced by", "exit 0 · ", "policy sha256:"):
        assert word in done.stderr


def test_refusals_are_reported_when_the_command_fails(wardian: Wardian) -> None:
    script = "import ctypes, sys; ctypes.CDLL(None).ptrace(16, 1, 0, 0); sys.exit(%d)"
    failed = wardian("exec", "--", "/usr/bin/python3", "-c", script % 1)
    fine = wardian("exec", "--", "/usr/bin/python3", "-c", script % 0)
    assert "blocked" in failed.stderr
    assert "ptrace" in failed.stderr
    assert fine.stderr == "wardian: 1 access was blocked (-v for details)\n"


def test_a_wall_given_up_is_shown(wardian: Wardian) -> None:
    done = wardian("exec", "--degrade", "notify", "--", "true")
    assert done.returncode == 0
    assert "ran without notify" in done.stderr


def test_the_guests_text_can_not_reach_the_terminal_through_the_summary(wardian: Wardian) -> None:
    done = wardian("exec", "--", "evil\x1b[2Jname")
    assert done.returncode == 127
    assert "\x1b" not in done.stderr
    assert r"evil\x1b[2Jname" in done.stderr


def test_colour_is_only_where_it_is_wanted(wardian: Wardian) -> None:
    assert "\x1b[" not in wardian("exec").stderr
    assert "\x1b[31merror:" in wardian("exec", FORCE_COLOR="1").stderr
    assert "\x1b[" not in wardian("exec", FORCE_COLOR="1", NO_COLOR="1").stderr


def test_backend_host_runs_without_a_sandbox_and_says_so(wardian: Wardian) -> None:
    done = wardian("exec", "--backend", "host", "--", "id", "-u")
    assert done.stdout == f"{os.geteuid()}\n"
    assert "without a sandbox" in done.stderr


# Signals


def start(*args: str, **popen: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "exec", *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **popen,  # type: ignore[call-overload]
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"])
def test_signals_reach_the_guest(name: str) -> None:
    script = f"trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.05; done"
    with start("--", "sh", "-c", script) as process:
        assert line_of(process) == "ready\n"
        process.send_signal(getattr(signal, f"SIG{name}"))
        out, _ = process.communicate(timeout=20)
    assert (out, process.returncode) == ("got\n", 9)


EARLY = """
import os, signal, time
from wardian.cli import running as command
from wardian.sandbox.sandbox import Sandbox

class Early(Sandbox):
    def start_inherited(self, *args, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        process = super().start_inherited(*args, **options)
        while not self.files.list():
            time.sleep(0.01)
        return process

guest = "trap 'echo got; exit 9' TERM; touch up; while :; do sleep 0.05; done"
with Early() as sandbox:
    raise SystemExit(command.passed_through(sandbox, ["sh", "-c", guest], None, False).exit_code)
"""


def test_a_signal_that_comes_before_the_guest_waits_for_it() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", EARLY],
        capture_output=True,
        timeout=60,
        check=False,
        env=environment(),
    )
    assert (done.returncode, done.stdout, done.stderr) == (9, b"got\n", b"")


def test_a_guest_that_a_signal_ends_gives_128_and_its_number() -> None:
    with start("--", "sh", "-c", "echo ready; exec sleep 60") as process:
        assert line_of(process) == "ready\n"
        process.terminate()
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (143, "")


def test_a_second_interrupt_ends_a_guest_that_ignores_them() -> None:
    script = "trap 'echo no' INT; echo ready; while :; do sleep 0.1; done"
    with start("--", "sh", "-c", script) as process:
        assert line_of(process) == "ready\n"
        process.send_signal(signal.SIGINT)
        assert line_of(process) == "no\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 137
    assert "wardian: killed" in err


def test_the_guest_ends_when_wardian_is_killed() -> None:
    with start("--", "sh", "-c", "echo ready; exec sleep 4321.5") as process:
        assert line_of(process) == "ready\n"
        process.kill()
        process.communicate(timeout=20)
    deadline = time.monotonic() + 5
    while _running("sleep 4321.5") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _running("sleep 4321.5")


def _running(command: str) -> bool:
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return command in listing.stdout.splitlines()


def test_what_was_ignored_at_the_start_stays_ignored() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    script = "echo ready; sleep 0.5; echo alive"
    with start("--", "sh", "-c", script, preexec_fn=ignore) as process:
        assert line_of(process) == "ready\n"
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=20)
    assert (out, process.returncode) == ("alive\n", 0)


SPARSE = """
import errno, os
file = os.open('/tmp/f', os.O_RDWR | os.O_CREAT)
os.ftruncate(file, 3 << 30)
os.pwrite(file, b'end', (3 << 30) - 3)
print(os.fstat(file).st_size >> 30, os.pread(file, 3, (3 << 30) - 3).decode())
written = 0
try:
    while written < 64 << 20: written += os.pwrite(file, bytes(1 << 20), written)
except OSError as error: print(errno.errorcode[error.errno])
print('wrote', written >> 20)
try: os.ftruncate(file, 2 << 40)
except OSError as error: print(errno.errorcode[error.errno])
"""


def test_of_a_sparse_private_file_the_blocks_count(wardian: Wardian, tmp_path: Path) -> None:
    words = wardian("exec", "--disk", "16M", "--", "python3", "-c", SPARSE).stdout.split()
    assert words[:4] == ["3", "end", "ENOSPC", "wrote"]
    assert 8 <= int(words[4]) <= 16
    assert words[5:] == ["EFBIG"]  # nobody counts the index of a file whose pages lie far apart
    shared = wardian("exec", "--work", str(tmp_path), "--", "truncate", "-s", "3G", "f")
    assert shared.returncode == 153  # SIGXFSZ: it would fill the disk of whoever copies it


TRACED = "import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))"


def test_an_interface_and_debugging_are_asked_for_by_flag_or_policy(
    wardian: Wardian, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[network]\ninterface = true\n[syscalls]\ndebug = true\n")
    for words in ((), ("--interface", "--debug"), ("--policy", str(policy))):
        interfaces = wardian("exec", *words, "--", "cat", "/proc/net/dev").stdout
        traced = wardian("exec", *words, "--", "python3", "-c", TRACED).stdout
        assert ("eth0" in interfaces, traced) == (bool(words), "0\n" if words else "-1\n")


LEAK = "#include <stdlib.h>\nint main(void) { *(volatile char *)malloc(9) = 1; return 0; }\n"


def test_a_program_with_address_sanitizer_runs_and_finds_leaks_if_it_may(
    wardian: Wardian, tmp_path: Path
) -> None:
    (tmp_path / "leak.c").write_text(LEAK)
    command = ["cc", "-fsanitize=address", "-o", "leak", "leak.c"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("AddressSanitizer is not installed")
    limit = ["--memory", "none"]  # it reserves 15 TB, of which it uses next to nothing
    done = wardian("exec", "--work", tmp_path, *limit, "--", "./leak")
    assert (done.returncode, done.stderr) == (0, "")
    done = wardian("exec", "--work", tmp_path, *limit, "--debug", "--", "./leak")
    assert done.returncode != 0
    assert "detected memory leaks" in done.stderr
