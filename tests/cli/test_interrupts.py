"""Ctrl-C ends every command that can take long, soon, and says what was kept and how to go on."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.watched import Watched
from tests.skill_folders import write_skill
from wardian.measure.store.store import Store
from wardian.pool import pool
from wardian.sandbox.run.interrupting import run_pool
from wardian.sandbox.sandbox import Sandbox

NAP = f"86399.{os.getpid()}"  # seconds; like no other worker's
CASE = '[[case]]\nname = "sleeps"\nscript = "scripts/a.sh"\n'


def guests() -> list[str]:
    """Processes of these tests' guests on this host."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if NAP.encode() in words.split(b"\0"):
            found.append(pid)
    return found


def interrupted(run: Watched) -> str:
    """What was said; the exit code is 130, and no guest is left."""
    code, said = run.interrupt()
    assert code == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert not guests()
    return said


def test_learning_is_interrupted_and_writes_nothing(tmp_path: Path) -> None:
    with Watched("learn", "-o", "p.toml", "--", "sleep", NAP, cwd=tmp_path) as run:
        run.until("0/2 runs")
        said = interrupted(run)
    assert "no policy was written" in said
    assert not (tmp_path / "p.toml").exists()


@pytest.mark.parametrize("backend", ["wardian", "host"])
def test_cases_of_a_skill_are_interrupted(backend: str, tmp_path: Path) -> None:
    write_skill(tmp_path / "demo", {"scripts/a.sh": f"exec sleep {NAP}\n", "cases.toml": CASE})
    with Watched("test", "demo", "--in", backend, cwd=tmp_path) as run:
        run.until("0/1 cases")
        said = interrupted(run)
    assert "0 of 1 cases were done" in said


def test_probes_are_interrupted_and_no_broken_off_one_is_kept(tmp_path: Path) -> None:
    with Watched("probe", "all", "--artifacts", "out", cwd=tmp_path) as run:
        run.until(" left")
        said = interrupted(run)
    kept = list((tmp_path / "out").rglob("*.json"))
    assert f"{len(kept)} of " in said
    assert not [one for one in kept if '"crashed"' in one.read_text()]


def test_the_fuzzer_is_interrupted_and_can_be_resumed(tmp_path: Path) -> None:
    words = ("probe", "fuzz", "--seconds", "3600", "--artifacts", "a", "-o", "news")
    with Watched(*words, cwd=tmp_path) as run:
        run.until("so far")
        said = interrupted(run)
    assert "resume with: --resume a/fuzz/" in said
    assert list((tmp_path / "a/fuzz").glob("*.json"))


def test_a_suite_is_interrupted_and_can_be_resumed(tmp_path: Path) -> None:
    for name, text in (("quick", "exit 0"), ("slow", f"exec sleep {NAP}")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    words = ("suite", "run", "quick", "slow", "--protocol", "exit", "-o", "out", "--jobs", "1")
    with Watched(*words, "--timeout", "1h", cwd=tmp_path) as run:
        run.until("1/2 programs")
        said = interrupted(run)
    assert "the results of 1 of 2 programs are in out/; go on: the same command with --resume" in (
        said
    )
    assert [one.name for one in (tmp_path / "out").rglob("*.json")] == ["quick.json"]


def test_syscall_coverage_is_interrupted(tmp_path: Path) -> None:
    words = ("syscalls", "coverage", "--in", "wardian", "--no-use", "--artifacts", "out")
    with Watched(*words, cwd=tmp_path) as run:
        run.until(" left")
        said = interrupted(run)
    assert "measurements are in out/" in said


def test_a_nightly_is_interrupted_and_keeps_what_was_measured(tmp_path: Path) -> None:
    (tmp_path / "nightly.toml").write_text('sandboxes = ["wardian"]\n')
    words = ("nightly", "--config", "nightly.toml", "--store", "s.sqlite", "-o", "out")
    with Watched(*words, "--only", "probes", cwd=tmp_path) as run:
        run.until(" left")
        said = interrupted(run)
    assert "go on: the same command with --resume" in said
    with Store.open(str(tmp_path / "s.sqlite"), create=False) as store:
        campaign = store.campaign("last")
        assert campaign.state == "interrupted"
        kept = store.results(campaign.id)
    assert len({one.case.name for one in kept}) >= 1
    assert not [one for one in kept if one.outcome.status == "crashed"]


def test_doctor_is_interrupted(tmp_path: Path) -> None:
    with Watched("doctor", cwd=tmp_path) as run:
        run.until("left")
        interrupted(run)


@pytest.fixture
def silent_index() -> Iterator[str]:
    """A package index that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def hold() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        for one in held:
            one.close()


@pytest.mark.parametrize(
    "words", [("exec", "--with", "six", "--", "true"), ("trace", "--with", "six", "--", "true")]
)
def test_preparing_packages_is_interrupted(
    words: tuple[str, ...], silent_index: str, tmp_path: Path
) -> None:
    env = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": silent_index,
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "UV_INDEX_URL": silent_index,
    }
    with Watched(*words, cwd=tmp_path, env=env) as run:
        run.until("so far")
        said = interrupted(run)
    assert "nothing was installed; run the same command" in said
    assert not list((tmp_path / "cache").glob("**/scratch/*"))


# What makes it so


def test_runs_of_a_pool_end_when_the_caller_is_interrupted() -> None:
    begun, ends = threading.Event(), list[str]()

    def work(name: str) -> None:
        try:
            with Sandbox() as sandbox:
                begun.set()
                sandbox.run(["sleep", NAP])
                ends.append("a result")
        except KeyboardInterrupt:
            ends.append("interrupted")
            raise

    def broken_off() -> None:
        with run_pool(2) as workers:
            for name in "ab":
                workers.submit(work, name)
            assert begun.wait(30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert ends
    assert set(ends) == {"interrupted"}
    assert not guests()


def test_other_threads_and_later_runs_are_left_alone() -> None:
    def broken_off() -> None:
        with run_pool(1) as workers:
            workers.submit(Sandbox().run, ["sleep", NAP])
            raise KeyboardInterrupt

    with pool(1) as others, Sandbox() as sandbox:
        other = others.submit(sandbox.run, ["sh", "-c", "sleep 2; echo whole"])
        with pytest.raises(KeyboardInterrupt):
            broken_off()
        assert other.result().stdout == b"whole\n"
    with Sandbox() as sandbox, run_pool(1) as workers:
        assert workers.submit(sandbox.run, ["echo", "again"]).result().stdout == b"again\n"
