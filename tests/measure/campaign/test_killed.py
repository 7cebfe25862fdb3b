"""A nightly killed at any moment: the store opens, and --resume ends as if nothing had been."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, Wardian, environment
from tests.measure.campaign.scene import Scene
from wardian.measure.store.store import Store

pytestmark = pytest.mark.long

MOMENTS = 20
Outcomes = dict[tuple[str, str, str], tuple[Any, ...]]


@pytest.fixture
def scene(tmp_path: Path, wardian: Wardian) -> Scene:
    root = tmp_path / "scene"
    root.mkdir()
    made = Scene(root, wardian)
    made.put("policy.toml", '[syscalls]\ndeny = ["chmod", "fchmodat"]\n')  # some things fail
    return made


def reported(path: Path) -> Outcomes:
    """What the last campaign came to; times, and the names of scratch files, are each run's own."""
    with Store.open(str(path), create=False) as store:
        ((sound,),) = store._rows("PRAGMA integrity_check")
        assert sound == "ok"
        made = store.campaign("last")
        assert made.state == "finished"
        assert all(one.state == "done" for one in store.steps(made.id))
        return {
            one.case.identity: (one.status, one.outcome.errno, one.outcome.observed, one.key)
            for one in store.results(made.id)
        }


@pytest.mark.timeout(600)
def test_a_nightly_killed_at_any_moment_is_gone_on_with(scene: Scene, tmp_path: Path) -> None:
    assert scene.run("--date", "2026-01-01").returncode == 1
    undisturbed = reported(scene.root / "store.sqlite")
    assert len(undisturbed) == 15
    chance = random.Random(20260101)
    store = tmp_path / "killed.sqlite"
    command = [
        *COMMAND, "nightly", *scene.named, "--store", str(store), "-o", str(tmp_path / "out"),
        "--date", "2026-01-01", "--jobs", "2",
    ]  # fmt: skip
    env = environment(XDG_STATE_HOME=str(tmp_path / "state"))
    begun = time.monotonic()
    started = killed = 0
    span_s = 3.0
    while killed < MOMENTS and time.monotonic() - begun < 240:
        resume = ["--resume"] if started and _open_campaign(store) else []
        process = subprocess.Popen(
            [*command, *resume], cwd=scene.root, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        started += 1
        try:
            process.wait(chance.uniform(0.05, span_s))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            killed += 1
        _, said = process.communicate(timeout=60)
        assert process.returncode in (0, 1, -signal.SIGKILL), said.decode()
        if process.returncode in (0, 1):  # it was done before the moment came: begin anew
            assert reported(store) == undisturbed
            for path in tmp_path.glob("killed.sqlite*"):
                path.unlink()
            span_s = max(0.5, span_s * 0.8)
    assert killed >= MOMENTS // 2
    resume = ["--resume"] if _open_campaign(store) else []
    last = subprocess.run(
        [*command, *resume], cwd=scene.root, env=env, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert last.returncode in (0, 1), last.stderr.decode()
    assert reported(store) == undisturbed


def _open_campaign(path: Path) -> bool:
    if not path.exists():
        return False
    with Store.open(str(path)) as store:
        return any(one.state in ("running", "interrupted") for one in store.campaigns())
