"""``wardian history``: since when, when it flipped, what came between; export, prune, merge."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.measure.campaign import synthetic
from tests.measure.campaign.test_store import CASE, OUTCOME, campaign
from wardian.measure.history.selecting import lines
from wardian.measure.store.figures import counted
from wardian.measure.store.merging import joined_shards, merge, prune
from wardian.measure.store.model import Figure, Finding
from wardian.measure.store.store import Store, Write, key_of

NIGHTS = 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("history") / "store.sqlite")
    with Store.open(place) as store:
        synthetic.fill(store, NIGHTS, scale=4)
    return place


def test_every_flip_is_reported_with_the_change_that_came_between(path: str) -> None:
    with Store.open(path) as store:
        nights = [one.night for one in store.campaigns()]
        for event in synthetic.events(NIGHTS):
            kind, name, sandbox = event.identity
            (line,) = lines(store, [name], sandboxes=[sandbox], kinds=[kind])
            span = next(one for one in line.spans if one.first.night == nights[event.night])
            assert span.value.split()[0] == event.status
            assert [change.what for change in span.changes] == [event.why]


def test_what_never_flipped_is_stable_since_the_first_night(path: str) -> None:
    with Store.open(path) as store:
        (line,) = lines(store, ["core__limits__probe_0"], sandboxes=["wardian"])
    assert line.flips == 0
    assert (line.spans[0].first.night, line.spans[0].count) == ("2026-01-01", NIGHTS)


def test_only_what_flipped_is_reported_when_that_is_asked_for(path: str) -> None:
    with Store.open(path) as store:
        found = lines(store, [], kinds=["probe", "skill", "suite", "check"], flipped=True)
    assert {(one.kind, one.name, one.sandbox) for one in found} == {
        event.identity for event in synthetic.events(NIGHTS)
    }


def test_a_flip_for_which_nothing_changed_is_reported_as_such(store: Store) -> None:
    depends = {"kernel": "6.12", "policy": "a"}
    for night, status in (("2026-01-01", "supported"), ("2026-01-02", "blocked_unexpected")):
        made = store.begin(campaign(night=night, started=night))
        outcome = OUTCOME._replace(status=status)
        store.record(made, [Write(CASE, outcome, key=key_of(depends), depends=depends)])
    (line,) = lines(store, [CASE.name])
    assert line.spans[1].unexplained


def test_what_a_result_depends_on_says_more_than_its_campaign(store: Store) -> None:
    for night, status in (("2026-01-01", "supported"), ("2026-01-02", "blocked_unexpected")):
        made = store.begin(campaign(night=night, started=night, kernel=f"6.{night[-1]}"))
        depends = {"specimen": night}
        write = Write(CASE, OUTCOME._replace(status=status), key=key_of(depends), depends=depends)
        store.record(made, [write])
    (line,) = lines(store, [CASE.name])
    assert [change.what for change in line.spans[1].changes] == ["specimen"]


# The command


def test_the_timeline_reads_well(wardian: Wardian, path: str) -> None:
    done = wardian("history", "core__network__probe_3", "--in", "wardian", "--store", path)
    assert done.returncode == 0, done.stderr
    assert "supported  since 2026-01-08, 13 campaigns" in done.stdout
    assert "blocked_unexpected EPERM  2026-01-06 to 2026-01-07, 2 campaigns" in done.stdout
    assert "after: policy" in done.stdout
    assert "+++++xx+++++++++++++" in done.stdout


def test_capabilities_figures_and_globs_are_names_too(wardian: Wardian, path: str) -> None:
    for name in ("network_thing_3", "probe.good", "core__kern*"):
        done = wardian("history", name, "--store", path, "--json")
        document = json.loads(done.stdout)
        assert document["schema"] == "wardian.history/1"
        assert document["timelines"]


def test_the_store_may_be_named_before_or_behind(wardian: Wardian, path: str) -> None:
    bare = wardian("history", "--store", path)
    assert bare.returncode == 0, bare.stderr
    assert len(bare.stdout.splitlines()) == NIGHTS
    assert bare.stdout == wardian("history", "list", "--store", path).stdout
    before = wardian("history", "--store", path, "--json", "probe.good")
    assert json.loads(before.stdout)["schema"] == "wardian.history/1"


def test_what_nobody_measured_is_3(wardian: Wardian, path: str) -> None:
    done = wardian("history", "network_thing_33", "--store", path)
    assert done.returncode == 3
    assert "did you mean 'network_thing_3'?" in done.stderr


def test_without_a_store_the_error_says_where_one_was_looked_for(wardian: Wardian) -> None:
    done = wardian("history")
    assert done.returncode == 125
    assert "store.sqlite: there is no store" in done.stderr


def test_csv_and_json_lines_hold_every_result(wardian: Wardian, path: str, tmp_path: Path) -> None:
    text = wardian("history", "export", "--format", "csv", "--store", path).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    target = tmp_path / "all.jsonl"
    assert wardian("history", "export", "-o", str(target), "--store", path).returncode == 0
    documents = [json.loads(line) for line in target.read_text().splitlines()]
    results = [one for one in documents if one["table"] == "results"]
    assert len(rows) == len(results) == NIGHTS * len(list(synthetic.cases(4)))
    assert {one["table"] for one in documents} == {"campaigns", "results", "figures", "findings"}
    assert [row["status"] for row in rows] == [one["status"] for one in results]
    assert not list(tmp_path.glob("*.tmp"))


def test_pruning_keeps_what_was_asked_and_the_last_that_was_finished(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s.sqlite")) as store:
        synthetic.fill(store, 6, scale=3)
        store.begin(campaign(started="2026-02-01"))
        assert len(prune(store, keep=1, dry=True).campaigns) == 5
        assert len(store.campaigns()) == 7
        prune(store, keep=1)
        left = store.campaigns()
        assert [one.state for one in left] == ["finished", "running"]
        assert len(store.results(left[0].id)) == len(store.cases())


def test_pruning_lets_go_of_files_that_no_result_depends_on(store: Store) -> None:
    for night in ("2026-01-01", "2026-01-02"):
        made = store.begin(campaign(night=night, started=night, versions={"skill:s": night}))
        depends = {"specimen": f"of {night}"}
        store.record(made, [Write(CASE, OUTCOME, key=key_of(depends), depends=depends)])
        store.keep_sources(night, {"a": "1"})
        store.keep_sources(f"of {night}", {"b": "1"})
        store.finish(made.id)
    prune(store, keep=1)
    assert store.source_digests() == ["2026-01-02", "of 2026-01-02"]


def test_merging_twice_is_merging_once(tmp_path: Path) -> None:
    with (
        Store.open(str(tmp_path / "a.sqlite")) as one,
        Store.open(str(tmp_path / "b.sqlite")) as other,
    ):
        synthetic.fill(one, 3, scale=3)
        first = merge(other, one)
        assert first.campaigns == 3
        assert merge(other, one) == (0, 0)
        ours, theirs = one.campaigns()[1], other.campaigns()[1]
        assert ours._replace(id=0) == theirs._replace(id=0)
        mine = {r.case.identity: r.outcome for r in one.results(ours.id, evidence=True)}
        same = {r.case.identity: r.outcome for r in other.results(theirs.id, evidence=True)}
        assert mine == same
        assert len(one.findings(ours.id)) == len(other.findings(theirs.id))


def test_shards_become_one_campaign(wardian: Wardian, tmp_path: Path) -> None:
    paths = []
    for number in (1, 2, 3):
        paths.append(str(tmp_path / f"{number}.sqlite"))
        with Store.open(paths[-1]) as store:
            made = store.begin(campaign(uid="same", shard=f"{number}/3"))
            store.record(made, [Write(CASE._replace(name=f"case {number}"), OUTCOME)])
            store.record_figures(made.id, [Figure(0, "campaign.measured", "", 1), *counted([])])
            store.step(made.id, "probes", state="done", total=1, done=1)
            store.record_findings(made.id, [Finding(0, f"f{number}", "low", "t", "c", {})])
            store.finish(made.id)
    whole = str(tmp_path / "whole.sqlite")
    assert wardian("history", "merge", *paths, "--store", whole).returncode == 0
    with Store.open(whole) as store:
        (made,) = store.campaigns()
        assert (made.shard, made.state) == ("", "finished")
        assert len(store.results(made.id)) == 3
        figures = {one.name: one.value for one in store.figures(made.id)}
        assert (figures["campaign.measured"], figures["probe.good"]) == (3, 3)
        assert [(one.total, one.done) for one in store.steps(made.id)] == [(3, 3)]
        assert [one.slug for one in store.findings(made.id)] == ["f1", "f2", "f3"]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [("1/3", "2/3", "1/3 2/3"), ("1/3 2/3", "3/3", ""), ("1/2", "1/2", "1/2"), ("", "1/2", "")],
)
def test_shards_are_whole_when_none_is_missing(one: str, other: str, both: str) -> None:
    assert joined_shards(one, other) == both


def test_a_file_that_is_no_store_stops_a_merge_before_it_begins(
    wardian: Wardian, path: str, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.sqlite"
    wrong.write_text("no" * 4000)
    whole = tmp_path / "whole.sqlite"
    done = wardian("history", "merge", path, str(wrong), "--store", str(whole))
    assert done.returncode == 125
    assert "is no store" in done.stderr
    assert not whole.exists()
