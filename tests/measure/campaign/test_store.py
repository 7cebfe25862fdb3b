"""The store: what is written is there, whole or not at all, whoever else writes or dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.measure.campaign import synthetic
from wardian.errors import InputError, NothingMatched
from wardian.measure.case import Case
from wardian.measure.outcome import Outcome, health
from wardian.measure.store import schema
from wardian.measure.store.model import Campaign, Figure, Finding
from wardian.measure.store.rows import MAX_EVIDENCE_BYTES
from wardian.measure.store.store import Store, Write


def campaign(**fields: object) -> Campaign:
    usual = dict.fromkeys(Campaign._fields, "") | {
        "id": 0, "kind": "nightly", "night": "2026-01-01", "state": "running", "user_id": 0,
        "versions": {"gvisor": "1"},
    }  # fmt: skip
    return Campaign(**usual | fields)  # type: ignore[arg-type]


CASE = Case("probe", "core__network__loopback", "wardian", "network", "network_loopback", {"a": 1})
OUTCOME = Outcome("supported", "", "it answered", None, "allowed", {"output": "ok"})


def test_what_is_written_is_read_back(store: Store) -> None:
    made = store.begin(campaign())
    write = Write(CASE, OUTCOME, 0.5, "2026-01-01T00:00:00.000+00:00", "k1")
    store.record(made, [write])
    (read,) = store.results(made.id, evidence=True)
    assert read.case._replace(id=0) == CASE
    assert read.outcome == OUTCOME
    assert (read.duration_s, read.key, read.measured_in) == (0.5, "k1", made.uid)
    assert store.campaign("last") == made
    assert store.result(made.id, CASE.identity) == read
    assert store.evidence(read.outcome_id) == {"output": "ok"}


def test_a_result_counts_once_however_often_it_comes(store: Store) -> None:
    made = store.begin(campaign())
    store.record(made, [Write(CASE, OUTCOME)])
    store.record(made, [Write(CASE, OUTCOME._replace(status="timeout"))])
    assert [one.status for one in store.results(made.id)] == ["supported"]


def test_equal_outcomes_are_kept_once(store: Store) -> None:
    for night in ("2026-01-01", "2026-01-02"):
        store.record(store.begin(campaign(night=night)), [Write(CASE, OUTCOME)])
    (case,) = store.cases()
    one, other = store.timeline(case.id)
    assert one.outcome_id == other.outcome_id


def test_evidence_is_bounded_by_leaving_out_the_largest_part(store: Store) -> None:
    made = store.begin(campaign())
    large = OUTCOME._replace(evidence={"output": "x" * MAX_EVIDENCE_BYTES, "refusals": ["r"]})
    store.record(made, [Write(CASE, large)])
    read = store.result(made.id, CASE.identity)
    assert read is not None
    assert read.outcome.evidence == {"refusals": ["r"], "left_out": ["output"]}


def test_findings_come_worst_first_and_replace_those_before(store: Store) -> None:
    made = store.begin(campaign())
    for severities in (["low"], ["low", "critical", "medium", "high"]):
        store.record_findings(
            made.id, [Finding(0, name, name, "t", "c", {"n": [1]}) for name in severities]
        )
    assert [one.severity for one in store.findings(made.id)] == [
        "critical",
        "high",
        "medium",
        "low",
    ]


def test_figures_are_read_by_campaign_and_by_name(store: Store) -> None:
    one, other = store.begin(campaign()), store.begin(campaign())
    for made, value in ((one, 1.0), (other, 2.0)):
        store.record_figures(made.id, [Figure(0, "probe.good", "wardian", value, "cases", "e")])
    assert [figure.value for figure in store.figures(name="probe.good")] == [1.0, 2.0]
    assert [figure.value for figure in store.figures(other.id)] == [2.0]


def test_a_step_remembers_how_far_it_is(store: Store) -> None:
    made = store.begin(campaign())
    store.step(made.id, "probes", total=3)
    store.step(made.id, "probes", done=2, reused=1)
    store.step(made.id, "probes", state="done", document={"a": [1]})
    (step,) = store.steps(made.id)
    assert (step.state, step.total, step.done, step.reused) == ("done", 3, 2, 1)
    assert step.document == {"a": [1]}


@pytest.mark.parametrize(
    ("status", "reported"),
    [("supported", "good"), ("fail", "bad"), ("skip", "absent"), ("timeout", "broken")],
)
def test_health_says_the_same_for_every_kind(status: str, reported: str) -> None:
    assert health(status) == reported


# Files that are no stores of ours


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and not few of them\n" * 200)
    before = path.read_bytes()
    with pytest.raises(InputError, match="is no store"):
        Store.open(str(path))
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="another program"):
        Store.open(str(path))
    assert path.read_bytes() == before


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    Store.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 999")
    raw.close()
    with pytest.raises(InputError, match="version 999"):
        Store.open(path)


def test_a_store_that_is_only_asked_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(InputError, match="there is no store"):
        Store.open(str(path), create=False)
    assert not path.exists()


def test_an_older_store_becomes_a_new_one_and_keeps_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "store.sqlite")
    with Store.open(path) as store:
        store.record(store.begin(campaign()), [Write(CASE, OUTCOME)])
    later = (*schema.MIGRATIONS, ("ALTER TABLE campaigns ADD COLUMN note TEXT DEFAULT 'none'",))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "VERSION", len(later))
    with Store.open(path) as store:
        assert len(store.results(store.campaign("last").id)) == 1
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT note FROM campaigns").fetchall() == [("none",)]
        assert raw.execute("PRAGMA user_version").fetchone() == (len(later),)
    raw.close()


def test_an_empty_store_has_no_last_campaign(store: Store) -> None:
    with pytest.raises(NothingMatched):
        store.campaign("last")


# Others who write, and die


def _write_many(path: str, worker: int, count: int) -> None:
    with Store.open(path) as store:
        made = store.begin(campaign(uid=f"worker-{worker}"))
        for number in range(count):
            case = CASE._replace(name=f"core__x__{number}")
            store.record(made, [Write(case, OUTCOME._replace(detail=str(number % 7)))])


def test_many_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_write_many, args=(path, i, 50)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    with Store.open(path, create=False) as store:
        assert [len(store.results(one.id)) for one in store.campaigns()] == [50] * 4
        assert len(store.cases()) == 50


def test_a_writer_that_is_killed_leaves_a_store_that_opens(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite")
    spawn = multiprocessing.get_context("spawn")
    worker = spawn.Process(target=_write_many, args=(path, 0, 100_000))
    worker.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if os.path.exists(path):
            with Store.open(path) as store:
                made = store.campaigns()
                if made and len(store.results(made[0].id)) > 20:
                    break
        time.sleep(0.05)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    worker.join(60)
    with Store.open(path, create=False) as store:
        (made_one,) = store.campaigns()
        assert made_one.state == "running"
        assert len(store.results(made_one.id)) > 20
        ((reported,),) = store._rows("PRAGMA integrity_check")
        assert reported == "ok"


# Nights that never were


def test_a_made_up_history_has_what_happened_in_it(store: Store) -> None:
    nights = synthetic.fill(store, 20, scale=4)
    assert len(store.campaigns(kind="nightly", states=["finished"])) == len(nights) == 20
    ids = {case.identity: case.id for case in store.cases()}
    for event in synthetic.events(20):
        moments = store.timeline(ids[event.identity])
        assert moments[event.night].status == event.status
        assert moments[event.night - 1].status != event.status
