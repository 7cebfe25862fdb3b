"""The pages: complete, self-contained, true to the store, and safe whatever a guest has said."""

from __future__ import annotations

import html.parser
import os
import re
from pathlib import Path

import pytest

from tests.measure.campaign.synthetic import events, fill
from tests.measure.pages.conftest import NIGHTS
from wardian.errors import InputError, NothingMatched
from wardian.measure.case import Case
from wardian.measure.outcome import STATUSES, TONES, Outcome, status
from wardian.measure.pages import facts, site, strips, views
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.strips import Stretch, stretches, strip
from wardian.measure.store.store import Store, Write

VOID = {"meta", "link", "input", "br", "img", "hr", "rect", "path", "circle"}
MEGABYTES = 1_000_000


class Shape(html.parser.HTMLParser):
    """Are all elements closed, all ids different, and is anything loaded from elsewhere?"""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value and tag == "a":
                self.links.append(value)
            elif name in ("src", "href", "srcset", "action", "poster", "data") and value:
                self.loaded.append(value)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def shape(path: Path) -> Shape:
    read = Shape()
    read.feed(path.read_text())
    read.close()
    return read


def test_every_page_is_well_formed_and_leads_somewhere(pages: Path) -> None:
    ids = {one.stem: set(shape(one).ids) for one in pages.glob("*.html")}
    assert set(ids) == set(site.PAGES)
    for one in pages.glob("*.html"):
        read = shape(one)
        assert read.open == []
        assert len(read.ids) == len(set(read.ids)), "an id stands twice"
        for link in read.links:
            page, _, place = link.partition("#")
            target = page.removesuffix(".html") or one.stem
            assert not place or place in ids[target], link


def test_nothing_is_loaded_from_elsewhere(pages: Path) -> None:
    for one in pages.glob("*.html"):
        assert all(link.startswith("data:") for link in shape(one).loaded)
        assert not re.findall(r"""(?:url\(|@import|fetch\(["'`]http)""", one.read_text())


def test_what_happened_is_where_it_happened(newest: Facts) -> None:
    """The synthetic history says what flipped when."""
    stories = {one.name: one for one in strips.stories(newest)}
    for event in events(NIGHTS):
        kind, name, sandbox = event.identity
        line = newest.lines[event.identity]
        assert line[event.night] == event.status
        assert line[event.night - 1] != event.status
        if kind != "check":
            found = next(one for one in stories[name].lines if one.sandbox == sandbox)
            assert found.flips == sum(one.identity == event.identity for one in events(NIGHTS))


def test_since_is_the_first_night_of_the_status_that_it_has(newest: Facts) -> None:
    last = {event.identity: event for event in events(NIGHTS)}
    for identity, event in last.items():
        since = newest.since(identity)
        assert since is not None
        assert since.night == newest.campaigns[event.night].night
    stable = next(one for one in newest.lines if one not in last)
    assert newest.since(stable) == newest.campaigns[0]


def test_cases_that_flipped_come_first_the_latest_before_earlier_ones(newest: Facts) -> None:
    latest = [one.latest for one in strips.stories(newest)]
    assert latest == sorted(latest, reverse=True)
    assert latest[0] == max(one.night for one in events(NIGHTS))


def test_changes_are_those_since_the_campaign_compared_with(history: Path) -> None:
    with Store.open(str(history), create=False) as store:
        assert views.changes(facts.read(store)) == []
        first = store.campaigns()[0]
        changed = views.changes(facts.read(store, against=first.uid))
        identities = {one.case.identity for one in changed}
        # What flipped and flipped back is as it was.
        assert identities == {one.identity for one in events(NIGHTS)} - {
            ("probe", "core__network__probe_3", "wardian")
        }
        with pytest.raises(NothingMatched, match="can't be compared with itself"):
            facts.read(store, against="last")


@pytest.mark.long
def test_two_hundred_nights_fit_in_pages_of_three_megabytes(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.sqlite")) as store:
        fill(store, 200, scale=12)
        written = site.write(facts.read(store), str(tmp_path / "site"))
    assert max(one.size for one in written) < 3 * MEGABYTES
    text = (tmp_path / "site/timeline.html").read_text()
    assert "200 campaigns, 2026-01-01 02:30 to 2026-07-19 02:30 UTC" in text


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[31m\u202e"


def test_what_a_guest_said_stays_text(history: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(history.read_bytes())
    with Store.open(str(path)) as store:
        campaign = store.campaign("last")
        evidence = {
            "output": HOSTILE,
            "refusals": [{"kind": HOSTILE, "action": HOSTILE, "target": HOSTILE}, HOSTILE],
        }
        outcome = Outcome("blocked_unexpected", HOSTILE, HOSTILE, "EPERM", "blocked", evidence)
        about = {"title": HOSTILE, "script": HOSTILE}
        cases = [
            Case("probe", HOSTILE, "wardian", HOSTILE, HOSTILE, about),
            Case("probe", "core__syscall__read", "wardian", "syscall", "syscall_read", about),
            Case("skill", f"{HOSTILE}/{HOSTILE}", "wardian", HOSTILE, "", about),
            Case("suite", f"{HOSTILE}:{HOSTILE}", "wardian", HOSTILE, "", about),
            Case("trace", HOSTILE, "wardian", HOSTILE, "", about),
        ]
        store.record(campaign, [Write(one, outcome) for one in cases])
        site.write(facts.read(store), str(tmp_path / "site"))
    for one in (tmp_path / "site").glob("*.html"):
        text = one.read_text()
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "\x1b" not in text
        shape(one)


def test_a_store_without_campaigns_is_an_error(tmp_path: Path) -> None:
    with (
        Store.open(str(tmp_path / "store.sqlite")) as store,
        pytest.raises(NothingMatched, match="no campaign"),
    ):
        facts.read(store)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cant_be_written_is_an_error(newest: Facts) -> None:
    with pytest.raises(InputError, match="can't be written"):
        site.write(newest, "/proc/report")


def test_a_file_in_the_way_is_kept(newest: Facts, tmp_path: Path) -> None:
    (tmp_path / "site").write_text("mine")
    with pytest.raises(InputError, match="can't be written"):
        site.write(newest, str(tmp_path / "site"))
    assert (tmp_path / "site").read_text() == "mine"


def test_every_status_has_a_symbol_and_a_word_besides_its_colour() -> None:
    for one in (*STATUSES.values(), status(None), status("timeout"), status("not_wanted")):
        assert one.symbol
        assert one.word
        assert one.tone in TONES
    assert status("timeout").tone == "lost"
    different = {(one.symbol, one.word) for one in STATUSES.values()}
    assert len(different) == len({one.word for one in STATUSES.values()})


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], []),
        (["pass"], [Stretch(0, 1, "pass")]),
        (
            ["pass", "pass", None, "fail"],
            [Stretch(0, 2, "pass"), Stretch(2, 1, None), Stretch(3, 1, "fail")],
        ),
    ],
)
def test_stretches_hold_the_same_as_the_statuses(
    statuses: list[str | None], expected: list[Stretch]
) -> None:
    assert stretches(statuses) == expected
    assert strip(statuses, "x").count("<rect") == sum(one.status is not None for one in expected)


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(0, 0, "–"), (3, 3, "100 %"), (9999, 10000, "99.9 %"), (1, 2, "50.0 %")],
)
def test_only_all_of_it_is_a_hundred_percent(part: int, whole: int, expected: str) -> None:
    assert site._percent(part, whole) == expected
