"""What every test may use: a sandbox that is closed afterwards, and the host as an oracle."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from wardian import Policy, Sandbox

MakeSandbox = Callable[..., Sandbox]
OPEN_FILES = 1024  # a hundred runs at the same time need several each


# How long an example takes is the machine's business, which may have others to serve.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

_STATE = tempfile.mkdtemp(prefix="wardian-tests-state-")


def pytest_unconfigure() -> None:
    """What tests shared for writing is nobody's to remember."""
    shutil.rmtree(_STATE, ignore_errors=True)


def pytest_configure() -> None:
    """As many open files as the tests need, where `ulimit -n` is less and can be raised; and
    signals as they are at a terminal, where nohup or a shell's & has them ignored."""
    os.environ["XDG_STATE_HOME"] = _STATE
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            ours = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if ours else signal.SIG_DFL)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, OPEN_FILES), hard))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where every program is to be there, a skip for want of one is a failure."""
    report = yield
    reason = str(report.longrepr)
    if report.skipped and "WARDIAN_REQUIRE_ALL" in os.environ and "not installed" in reason:
        report.outcome = "failed"
        report.longrepr = f"WARDIAN_REQUIRE_ALL is set, and {reason}"
    return report


@pytest.fixture
def make_sandbox() -> Iterator[MakeSandbox]:
    """Make sandboxes with ``make_sandbox(policy)``; all of them are closed after the test."""
    made: list[Sandbox] = []

    def make(policy: Policy | None = None, **options: Any) -> Sandbox:
        made.append(Sandbox.create(policy, **options))
        return made[-1]

    yield make
    for sandbox in made:
        sandbox.close()


@pytest.fixture
def sandbox(make_sandbox: MakeSandbox) -> Sandbox:
    """A sandbox under the default policy."""
    return make_sandbox()


@pytest.fixture
def fresh_sandbox(make_sandbox: MakeSandbox) -> Sandbox:
    """The same, with namespaces and a supervisor for each run."""
    return make_sandbox(fresh=True)


@pytest.fixture
def as_root() -> bool:
    """Is this run of the tests root's?"""
    return os.geteuid() == 0


def natively(
    command: Sequence[str], cwd: Path, *, env: dict[str, str] | None = None, timeout_s: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """The same command without a sandbox: what it should have printed."""
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(cwd), "TMPDIR": "/tmp", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )


def launchers() -> list[int]:
    """Children of this process that are launchers; other tests may have children of other kinds."""
    tasks = os.listdir("/proc/self/task")
    pids = [
        int(pid)
        for task in tasks
        for pid in of_process(os.getpid(), f"task/{task}/children").split()
    ]
    return [pid for pid in pids if "wardian-launch" in of_process(pid, "comm")]


def of_process(pid: int, name: str) -> str:
    """What /proc tells about a process; nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """Does it still run? A zombie, which not every pid 1 picks up, does not."""
    state = of_process(pid, "stat").rpartition(")")[2].split()[:1]
    return state not in ([], ["Z"], ["X"])
