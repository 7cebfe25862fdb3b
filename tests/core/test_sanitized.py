"""Whole runs with a launcher that is built with sanitizers: whatever they find ends the run."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardian import Policy, Sandbox, Share
from wardian.errors import SandboxError, ShareError
from wardian.sandbox.backends.wardian import Wardian

from .conftest import Build

PYTHON = os.path.realpath(sys.executable)


class Sanitized:
    """Makes sandboxes whose launcher reports into files beside it."""

    def __init__(self, launcher: Path, place: Path) -> None:
        self.reports = place / "reports"
        self.reports.mkdir()
        options = f"log_path={self.reports}/asan:detect_leaks=0:abort_on_error=0:exitcode=99"
        self.wrapper = place / "launch"
        # The launcher is started with an empty environment, so the options go in between.
        self.wrapper.write_text(
            f"#!/bin/sh\nASAN_OPTIONS={options} UBSAN_OPTIONS=print_stacktrace=1:{options}"
            f" exec {shlex.quote(str(launcher))}\n"
        )
        self.wrapper.chmod(0o755)
        self.made: list[Sandbox] = []

    def __call__(self, policy: Policy | None = None) -> Sandbox:
        sandbox = Sandbox(policy)
        sandbox._backend = Wardian(binary=str(self.wrapper))
        self.made.append(sandbox)
        return sandbox


@pytest.fixture
def sanitized(build: Build, tmp_path: Path) -> Iterator[Sanitized]:
    maker = Sanitized(build("wardian-launch-asan"), tmp_path)
    yield maker
    for sandbox in maker.made:
        sandbox.close()
    reports = [path.read_text() for path in maker.reports.iterdir()]
    assert reports == []


def test_ordinary_runs(sanitized: Sanitized) -> None:
    sandbox = sanitized()
    assert sandbox.run(["sh", "-c", "echo out; echo err >&2; exit 3"]).exit_code == 3
    data = os.urandom(3 << 20)
    assert sandbox.run(["cat"], input=data).stdout == data
    assert sandbox.run(["true", *["w" * 1000] * 100], env={"A": "b" * 10_000}).ok
    assert sandbox.run(["sh", "-c", "kill -SEGV $$"]).exit_code == 139
    assert sandbox.run(["no-such-program"]).exit_code == 127
    assert sandbox.run(["/etc/passwd"]).exit_code == 126


def test_a_living_sandbox(sanitized: Sanitized) -> None:
    """Commands, terminals, ports, kills, refusals, a flood of ends."""
    sandbox = Sandbox.create()
    sandbox._backend = sandbox._place = Wardian(binary=str(sanitized.wrapper))
    sanitized.made.append(sandbox)
    assert sandbox.run(["sh", "-c", "echo out; cat /etc/shadow; sleep 60 & exit 3"]).exit_code == 3
    assert sandbox.run(["cat"], input=b"x" * (1 << 20)).stdout == b"x" * (1 << 20)
    assert sandbox.run(["no-such-program"]).exit_code == 127
    assert sandbox.run(["true", *["w" * 1000] * 100], env={"A": "b" * 10_000}).ok
    with pytest.raises(SandboxError):
        sandbox.run(["true"], cwd="/tmp/none")
    many = (
        "for n in range(900):\n    try: open('/etc/' + 'n' * 99 + str(n))\n    except OSError: pass"
    )
    several = [sandbox.start([PYTHON, "-c", many]) for _ in range(3)]
    terminal = sandbox.start(["sh"], pty=True)
    terminal.stdin.write("exit 4\n")
    assert terminal.wait(60).exit_code == 4
    server = sandbox.start(
        [PYTHON, "-c", "import socket, time\ns = socket.create_server(('', 4000))\ntime.sleep(60)"]
    )
    sandbox.connect(4000, wait_s=30).close()
    assert server.ports() == (4000,)
    for process in several:
        assert process.wait(60).ok
    sleepers = [sandbox.start(["sleep", "60"]) for _ in range(40)]
    for process in [*sleepers, server]:
        process.kill()
    assert {process.wait(60).reason for process in sleepers} == {"killed"}
    assert sandbox.run(["sleep", "60"], timeout_s=0.2).reason == "time limit"


def test_what_is_left_running_is_read(sanitized: Sanitized) -> None:
    """Hundreds of processes, one with a long command line, one that listens on many addresses."""
    program = (
        "import os, socket, time\n"
        "if os.fork() == 0: os.execv('/bin/sh', ['sh', '-c', 'sleep 60; :', *['y' * 99999] * 9])\n"
        "if os.fork() == 0:\n"
        "    held = [socket.create_server(('127.0.0.1', 2000 + n)) for n in range(200)]\n"
        "    held += [socket.create_server(('::1', 2000 + n), family=10) for n in range(200)]\n"
        "    time.sleep(60)\n"
        "for _ in range(300):\n"
        "    if os.fork() == 0: time.sleep(60); os._exit(0)\n"
        "time.sleep(0.5); os._exit(0)\n"
    )
    result = sanitized().run([PYTHON, "-c", program])
    assert result.ok
    assert result.left_running_more > 0


def test_refusals_are_answered(sanitized: Sanitized) -> None:
    program = (
        "import ctypes\n"
        "for n in range(300):\n"
        "    ctypes.CDLL(None).syscall(101, n, 0, 0, 0)\n"
        "    ctypes.CDLL(None).syscall(9999, n)\n"
    )
    result = sanitized().run([PYTHON, "-c", program])
    assert result.exit_code == 0, result.stderr
    assert result.refusals


def test_shares_of_all_kinds(sanitized: Sanitized, tmp_path: Path) -> None:
    (tmp_path / "d/sub").mkdir(parents=True)
    (tmp_path / "f").write_text("file")
    shares = [
        Share(f"{tmp_path}/d", "/deep/er/place", True),
        Share(f"{tmp_path}/f", "/deep/f"),
        Share(f"{tmp_path}/d/sub", "/deep/er/place/sub"),
    ]
    sandbox = sanitized(Policy.default().with_shares(shares))
    assert sandbox.run(["sh", "-c", "cat /deep/f; echo x > /deep/er/place/new"]).text == "file"
    assert (tmp_path / "d/new").read_text() == "x\n"


def test_runs_that_can_t_be_set_up(sanitized: Sanitized, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="/nowhere"):
        sanitized().run(["true"], cwd="/nowhere")
    (tmp_path / "gone").mkdir()
    sandbox = sanitized(Policy.default().with_shares([Share(f"{tmp_path}/gone", "/in")]))
    assert sandbox.run(["true"]).ok
    (tmp_path / "gone").rmdir()
    with pytest.raises(ShareError, match="gone"):
        sandbox.run(["true"])
    long = "/x" * 3000
    with pytest.raises(SandboxError):
        sanitized().run(["true"], cwd=long)


@pytest.mark.parametrize(
    ("limits", "script", "reason"),
    [
        ({"time_s": 0.3}, "sleep 50", "time limit"),
        ({"output_bytes": 5000}, "yes", "output limit"),
        ({"cpu_s": 0.4}, "while :; do :; done", "cpu limit"),
        ({"memory_bytes": 80 << 20}, "head -c 200M /dev/zero | tail -c 150M", "memory limit"),
    ],
)
def test_limits_strike(
    limits: dict[str, float], script: str, reason: str, sanitized: Sanitized
) -> None:
    result = sanitized(Policy.default().with_limits(**limits)).run(["sh", "-c", script])
    assert result.reason == reason or (reason == "memory limit" and result.exit_code != 0)


def test_killing_and_many_at_once(sanitized: Sanitized) -> None:
    sandbox = sanitized()
    processes = [sandbox.start(["sh", "-c", "setsid sleep 50 & sleep 50"]) for _ in range(4)]
    for process in processes:
        process.kill()
    assert [process.wait(30).reason for process in processes] == ["killed"] * 4


def test_a_guest_with_many_processes_files_and_names(sanitized: Sanitized) -> None:
    program = (
        "import os, time, ctypes\n"
        "ctypes.CDLL(None).prctl(15, b') R 1 2 (', 0, 0, 0)\n"
        "fds = [os.memfd_create('x') for _ in range(100)]\n"
        "for n in range(60):\n"
        "    if os.fork() == 0: time.sleep(0.4); os._exit(0)\n"
        "time.sleep(0.6)\n"
    )
    result = sanitized(Policy.default().with_limits(memory_bytes=64 << 20)).run(
        [PYTHON, "-c", program]
    )
    assert result.exit_code in (0, 137), result
