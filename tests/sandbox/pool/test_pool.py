"""Sandboxes made ahead of time: each run as in one made for it, whatever happens to the pool."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardian import Policy, Pool, Sandbox
from wardian.errors import SandboxError, UsageError
from wardian.sandbox.pool.stock import Stock

SOON_S = 20.0
LEAST = (0.1, 0.2, 0.4, 0.8)
OUTSIDE = os.path.realpath(sys.executable)  # not below /usr where tests have a Python of their own


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(ready=2) as made:
        yield made


def launchers() -> set[int]:
    """The launchers that this process has."""
    found = set()
    for name in os.listdir("/proc"):
        try:
            about = Path(f"/proc/{name}/stat").read_text()
        except OSError:
            continue
        comm, rest = about.split("(", 1)[1].rsplit(")", 1)
        state, parent = rest.split()[:2]
        if comm == "wardian-launch" and parent == str(os.getpid()) and state != "Z":
            found.add(int(name))
    return found


def gone_within(seconds: float) -> None:
    until = time.monotonic() + seconds
    while launchers() and time.monotonic() < until:
        time.sleep(0.01)
    assert not launchers()


def test_a_run_is_that_of_a_sandbox_made_for_it(pool: Pool) -> None:
    script = (
        "import os, sys; print(os.getcwd(), os.listdir('.'), os.environ['A'], sys.stdin.read())"
    )
    command = ["/usr/bin/python3", "-c", script]
    options = {"env": {"A": "b"}, "input": "in", "cwd": "/tmp"}
    with Sandbox.create(fresh=True) as sandbox:
        alone = sandbox.run(command, **options)
    ours = pool.run(command, **options)
    assert ours.stdout == alone.stdout == b"/tmp [] b in\n"
    assert (ours.exit_code, ours.reason) == (0, alone.reason)
    assert [limit[:2] for limit in ours.limits] == [limit[:2] for limit in alone.limits]
    assert ours.protections == alone.protections
    heard: list[bytes] = []
    failed = pool.run(["sh", "-c", "echo out; echo err >&2; exit 3"], on_stdout=heard.append)
    assert (failed.exit_code, failed.stdout, failed.stderr, heard) == (3, b"", b"err\n", [b"out\n"])


def test_what_is_refused_is_reported(pool: Pool) -> None:
    result = pool.run(["cat", "/etc/shadow"])
    assert result.exit_code == 1
    assert "/etc/shadow" in [one.target for one in result.refusals]


def test_limits_hold_for_each_run() -> None:
    policy = Policy.default().with_limits(time_s=0.5)
    with Pool(policy, ready=1) as pool:
        assert pool.wait_ready(SOON_S)
        time.sleep(0.7)  # what waits does not use its time up
        assert pool.run(["true"]).exit_code == 0
        assert pool.run(["sleep", "60"]).reason == "time limit"
        assert pool.run(["sleep", "60"], timeout_s=0.1).usage.wall_s < 0.5


def test_each_is_used_once_and_replaced(pool: Pool) -> None:
    assert pool.wait_ready(SOON_S)
    first = launchers()
    assert len(first) == pool.waiting == 2
    for _ in range(6):
        assert pool.run(["true"]).exit_code == 0
    assert pool.wait_ready(SOON_S)
    until = time.monotonic() + SOON_S
    while len(launchers()) > 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(launchers()) == 2
    assert not launchers() & first


def test_one_that_died_while_it_waited_is_not_handed_out(pool: Pool) -> None:
    assert pool.wait_ready(SOON_S)
    for pid in launchers():
        os.kill(pid, signal.SIGKILL)
    gone_within(SOON_S)
    assert pool.run(["echo", "there"]).stdout == b"there\n"


def test_many_threads_each_get_their_own(pool: Pool) -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        for _ in range(3):
            result = pool.run(["sh", "-c", f"echo {number} > /work/x; cat /work/*; ls /work"])
            if result.stdout != b"%d\nx\n" % number:
                failures.append(result)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_program_from_elsewhere_is_run_in_a_sandbox_made_for_it(tmp_path: Path) -> None:
    if OUTSIDE.startswith("/usr/"):
        pytest.skip("a Python outside of /usr is not installed")
    command = [OUTSIDE, "-c", "import sys; print(sys.executable)"]
    with Pool(ready=1) as pool:
        assert pool.wait_ready(SOON_S)
        assert pool.run(command).text.strip() == OUTSIDE
        assert pool.waiting == 1
    with Pool(ready=1, programs=[OUTSIDE]) as pool:
        assert pool.wait_ready(SOON_S)
        assert pool.run(command).text.strip() == OUTSIDE


def test_a_work_directory_of_the_policy_is_shared_by_all_runs(tmp_path: Path) -> None:
    with Pool(Policy.default().but(work=str(tmp_path)), ready=1) as pool:
        assert pool.run(["sh", "-c", "echo here > left"]).exit_code == 0
        assert pool.run(["cat", "left"]).stdout == b"here\n"
    assert (tmp_path / "left").read_text() == "here\n"


def test_where_something_is_shared_nothing_goes_on_after_the_run(tmp_path: Path) -> None:
    with Pool(Policy.default().but(work=str(tmp_path)), ready=1) as pool:
        script = "(while :; do date +%N > beat; done) & sleep 0.2"
        assert pool.run(["sh", "-c", script]).exit_code == 0
        last = (tmp_path / "beat").read_bytes()
        time.sleep(0.2)
        assert (tmp_path / "beat").read_bytes() == last


def test_what_goes_wrong_is_raised_by_the_run_that_finds_none(tmp_path: Path) -> None:
    missing = tmp_path / "work"
    missing.mkdir()
    with Pool(Policy.default().but(work=str(missing)), ready=1) as pool:
        assert pool.run(["true"]).exit_code == 0
        assert pool.wait_ready(SOON_S)
        missing.rmdir()
        for pid in launchers():
            os.kill(pid, signal.SIGKILL)
        gone_within(SOON_S)
        for _ in range(2):
            with pytest.raises(SandboxError, match="work"):
                pool.run(["true"])
        with pytest.raises(SandboxError, match="work"):
            pool.wait_ready(SOON_S)


def test_a_failure_to_make_one_is_tried_again_ever_more_seldom() -> None:
    tried: list[float] = []

    class Made:
        def close(self) -> None:
            pass

    def make() -> Made:
        tried.append(time.monotonic())
        if len(tried) <= 4:
            raise SandboxError("not yet")
        return Made()

    stock = Stock(make, lambda one: True, 1)
    stock.begin()
    until = time.monotonic() + SOON_S
    while not stock.waiting and time.monotonic() < until:
        time.sleep(0.01)
    assert isinstance(stock.take(), Made)
    stock.close()
    pauses = [later - before for before, later in itertools.pairwise(tried[:5])]
    assert all(pause >= least for pause, least in zip(pauses, LEAST, strict=True))


def test_closing_ends_what_runs_and_what_waits() -> None:
    pool = Pool(ready=2)
    assert pool.wait_ready(SOON_S)
    started = threading.Event()
    results: list[object] = []

    def work() -> None:
        results.append(
            pool.run(["sh", "-c", "echo; sleep 60"], on_stdout=lambda data: started.set())
        )

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(SOON_S)
    pool.close()
    thread.join(SOON_S)
    assert [result.reason for result in results] == ["killed"]  # type: ignore[attr-defined]
    assert not launchers()
    pool.close()
    with pytest.raises(UsageError, match="this pool is closed"):
        pool.run(["true"])


def test_a_pool_that_nobody_has_any_more_ends() -> None:
    pool = Pool(ready=2)
    assert pool.wait_ready(SOON_S)
    del pool
    gone_within(SOON_S)


def test_a_forked_process_has_no_say_in_it(pool: Pool) -> None:
    assert pool.wait_ready(SOON_S)
    child = os.fork()
    if child == 0:
        try:
            pool.run(["true"])
        except UsageError as error:
            pool.close()
            os._exit(7 if "belongs to the process that made it" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(launchers()) == 2
    assert pool.run(["true"]).exit_code == 0


def test_the_same_words_on_an_event_loop() -> None:
    async def main() -> None:
        async with Pool(ready=2) as pool:
            assert await pool.wait_ready(SOON_S)
            runs = [pool.run(["echo", str(number)]) for number in range(4)]
            assert [one.stdout for one in await asyncio.gather(*runs)] == [
                b"0\n",
                b"1\n",
                b"2\n",
                b"3\n",
            ]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(pool.run(["sleep", "60"]), 0.3)

    asyncio.run(main())
    assert not launchers()


@pytest.mark.parametrize("ready", [0, -1, 1001, 1.5])
def test_nonsense_is_refused(ready: int) -> None:
    with pytest.raises(UsageError, match="between 1 and 1000"):
        Pool(ready=ready)
