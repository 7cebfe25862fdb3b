"""A campaign on a real Dask cluster: a scheduler, three workers, one of them killed on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import COMMAND, Wardian, environment
from tests.measure.campaign.scene import Scene
from wardian.measure.store.store import Store

pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

PACE = "import time; time.sleep(0.4)"
MORE = 12


class Cluster:
    """A scheduler and workers on the loopback, each a process of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.file = place / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                    "--scheduler-file", str(self.file))  # fmt: skip
        _until(self.file.exists)

    def worker(self, **env: str) -> subprocess.Popen[bytes]:
        return self._start(
            "worker", "--scheduler-file", str(self.file), "--host", "127.0.0.1", "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--local-directory", str(self.place), **env,
        )  # fmt: skip

    def _start(self, *words: str, **env: str) -> subprocess.Popen[bytes]:
        log = (self.place / f"{len(self.processes)}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=environment(**env), cwd=self.place,
            )  # fmt: skip
        self.processes.append(process)
        return process

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self.file.read_text())["address"]).removeprefix("tcp://")

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait(30)


def _until(holds, timeout_s: float = 90) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    place = tmp_path / "cluster"
    place.mkdir()
    made = Cluster(place)
    yield made
    made.close()


@pytest.fixture
def scene(tmp_path: Path, wardian: Wardian) -> Scene:
    root = tmp_path / "scene"
    root.mkdir()
    made = Scene(root, wardian)
    for number in range(MORE):
        made.probe(f"slow_{number}", "It takes its time.", PACE)
    return made


def reported(path: Path) -> dict[tuple[str, str, str], str]:
    with Store.open(str(path), create=False) as store:
        made = store.campaign("last")
        assert made.state == "finished"
        return {one.case.identity: one.status for one in store.results(made.id)}


def _count(path: Path) -> int:
    if not path.exists():
        return 0
    with Store.open(str(path)) as store:
        made = store.campaigns()
        return len(store.results(made[-1].id)) if made else 0


def test_a_worker_that_is_killed_loses_nothing_and_nothing_counts_twice(
    cluster: Cluster, scene: Scene, tmp_path: Path
) -> None:
    assert scene.run("--date", "2026-01-01").returncode == 0
    local = reported(scene.root / "store.sqlite")
    assert len(local) == 15 + 2 * MORE
    workers = [cluster.worker() for _ in range(3)]
    store = tmp_path / "cluster.sqlite"
    nightly = subprocess.Popen(
        [*COMMAND, "nightly", *scene.named, "--store", str(store), "-o", str(tmp_path / "out"),
         "--executor", f"dask://{cluster.address}"],
        cwd=scene.root, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _until(lambda: nightly.poll() is not None or _count(store) >= 5)
        os.kill(workers[0].pid, signal.SIGKILL)
        _, said = nightly.communicate(timeout=200)
    finally:
        nightly.kill()
    assert nightly.returncode == 0, said.decode()
    assert reported(store) == local
    with Store.open(str(store)) as opened:
        made = opened.campaign("last")
        steps = {one.name: (one.total, one.done) for one in opened.steps(made.id)}
        assert all(total == done for total, done in steps.values())
        assert sum(done for name, (_, done) in steps.items()
                   if name in ("probes", "skills", "traces")) == len(local)  # fmt: skip


def test_workers_get_only_what_they_can_do(cluster: Cluster, scene: Scene, tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "python3", "cc", "true", "cat", "tr"):
        found = shutil.which(name)
        if found is not None:
            (programs / name).symlink_to(found)
    poor = cluster.worker(PATH=str(programs))
    rich = cluster.worker()
    text = (scene.root / "nightly.toml").read_text()
    scene.put("nightly.toml", text.replace('["wardian", "host"]', '["wardian", "bubblewrap"]'))
    from wardian.measure.campaign.cluster import Dask
    from wardian.measure.campaign.config import read_config
    from wardian.measure.campaign.plan import prepare

    executor = Dask(cluster.address)
    try:
        _until(lambda: executor._look(at_once=True) or len(executor._offers) == 2)
        elsewhere = executor.workbench()
        plan = prepare(read_config(str(scene.root / "nightly.toml")), (1, 1), elsewhere)
        able = {len(executor._able(one)): one for one in plan.units}
        assert set(able) == {1, 2}
        assert able[1].case.sandbox == "bubblewrap"
        assert able[2].case.sandbox == "wardian"
        ran: list[str] = []
        chosen = [one for one in plan.units if one.case.kind == "probe"][:6]
        left = executor.run(chosen, lambda unit, produced: ran.append(unit.case.name), None)
        assert (len(ran), left) == (len(chosen), [])
    finally:
        executor.close()
    assert poor.poll() is None
    assert rich.poll() is None


def test_without_a_scheduler_it_is_reported(scene: Scene) -> None:
    done = scene.run("--executor", "dask://127.0.0.1:1")
    assert done.returncode == 125
    assert "no scheduler answers at 127.0.0.1:1" in done.stderr
    assert scene.run("--executor", "ssh://x").returncode == 2
