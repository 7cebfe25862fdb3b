"""The overview: which sandbox holds more, which runs more, what changed, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.measure.campaign.synthetic import SANDBOXES, events, fill
from tests.measure.pages.conftest import NIGHTS
from wardian.measure.case import Case
from wardian.measure.outcome import Outcome
from wardian.measure.pages import facts, labels, scores, site, strips, views
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.scores import Score
from wardian.measure.store.store import Store, Write

STOCK = "bubblewrap-stock"


def by_sandbox(newest: Facts) -> Mapping[str, scores.SandboxScore]:
    return {one.sandbox: one for one in scores.scores(newest)}


def text_of(page: Path) -> str:
    """The page as a reader sees it, without tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.read_text()))


def with_results(path: Path, cases: Iterable[tuple[Case, str]]) -> Facts:
    """A campaign that has these results and no others."""
    store = Store.open(str(path))
    (other,) = fill(store, 1, scale=1)
    campaign = store.begin(other._replace(id=0, uid="e" * 32, kind="alone"))
    store.record(campaign, [Write(case, Outcome(status)) for case, status in cases])
    return facts.read(store)


def probe(name: str, sandbox: str, group: str = "kernel") -> Case:
    return Case("probe", name, sandbox, group, name, {"title": f"What {name} tries"})


# Two figures


def test_a_sandbox_that_stops_less_has_a_lower_first_figure_and_not_a_lower_second(
    newest: Facts,
) -> None:
    found = by_sandbox(newest)
    ours, stock, host = found["wardian"], found[STOCK], found["host"]
    assert ours.stopped.good == ours.stopped.asked > stock.stopped.good > host.stopped.good == 0
    assert ours.working.good == stock.working.good == host.working.good == host.working.asked
    assert {one.stopped.asked for one in found.values()} == {ours.stopped.asked}


def test_every_sandbox_has_two_figures_on_the_page_and_no_third(newest: Facts, pages: Path) -> None:
    text = (pages / "index.html").read_text()
    for sandbox in SANDBOXES:
        row = text.partition(f'<tr data-sandbox="{sandbox}">')[2].partition("</tr>")[0]
        one = by_sandbox(newest)[sandbox]
        figures = re.findall(r'class="figure"><b>(\d+)</b> of (\d+)', row)
        assert figures == [
            (str(one.stopped.good), str(one.stopped.asked)),
            (str(one.working.good), str(one.working.asked)),
        ]
    assert "as they should be" not in text


def test_an_attack_is_what_wardian_must_block_whatever_is_expected_elsewhere(
    tmp_path: Path,
) -> None:
    newest = with_results(tmp_path / "store.sqlite", [
        (probe("core__kernel__mount", "wardian"), "allowed_unexpected"),
        (probe("core__kernel__mount", STOCK), "supported"),
        (probe("core__kernel__mount", "gvisor"), "blocked_expected"),
        (probe("core__process__spawn", "wardian"), "supported"),
        (probe("core__process__spawn", "gvisor"), "blocked_expected"),
        (probe("core__syscall__mount", "wardian", "syscall"), "blocked_expected"),
        (probe("fuzz__x__1", "wardian"), "blocked_expected"),
    ])  # fmt: skip
    found = by_sandbox(newest)
    assert found["wardian"].stopped == Score(0, 1), "specimens of calls are no attacks"
    assert found[STOCK].stopped == Score(0, 1), "that it is expected there makes it no better"
    assert found["gvisor"].stopped == Score(1, 1)
    assert found["gvisor"].working == Score(0, 1), "what does not work is not stopped"


def test_what_was_not_measured_in_wardian_is_judged_by_its_shipped_profile(tmp_path: Path) -> None:
    newest = with_results(tmp_path / "store.sqlite", [
        (probe("core__kernel__mount", "gvisor"), "supported"),
        (probe("core__filesystem__tmp_write", "gvisor", "filesystem"), "supported"),
    ])  # fmt: skip
    found = by_sandbox(newest)["gvisor"]
    assert (found.stopped, found.working) == (Score(0, 1), Score(1, 1))


def test_the_host_is_no_sandbox_and_one_that_was_asked_little_is_not_ranked(newest: Facts) -> None:
    every = scores.scores(newest)
    holds = scores.leader(every, "stopped")
    assert [one.sandbox for one in holds.first] == ["wardian", "bubblewrap"]
    assert [one.sandbox for one in holds.others] == ["gvisor", STOCK]
    assert "host" not in {one.sandbox for one in scores.leader(every, "working").first}
    few = [
        one._replace(stopped=Score(1, 1)) if one.sandbox == STOCK else one for one in every
    ]  # fmt: skip
    assert [one.sandbox for one in scores.leader(few, "stopped").unranked] == [STOCK]


def test_a_figure_is_compared_over_the_cases_that_both_campaigns_have(history: Path) -> None:
    with Store.open(str(history), create=False) as store:
        found = by_sandbox(facts.read(store, against=store.campaigns()[0].uid))
    assert found["gvisor"].stopped.delta == -1, "kernel_probe_1 is allowed there by now"
    assert found["bubblewrap"].working.delta == -1, "a case of notebook fails there by now"
    assert found["wardian"].stopped.delta == 0


def test_an_attack_that_is_no_longer_stopped_is_worse_where_it_is_expected_too(
    newest: Facts,
) -> None:
    roles = scores.Roles(newest)
    attack = Case("probe", "core__kernel__probe_1", "gvisor", "kernel")
    program = Case("probe", "core__network__probe_3", "gvisor", "network")
    assert roles.moved(attack, "blocked_expected", "supported") == -1
    assert roles.moved(attack, "supported", "blocked_expected") == 1
    assert roles.moved(program, "supported", "blocked_expected") == -1
    suite = Case("suite", "read_test:ReadTest.Case2", "wardian", "read_test")
    assert roles.moved(suite, "pass", "fail") == -1
    assert roles.moved(suite, "fail", "timeout") == 0


def test_what_became_worse_is_counted_and_marked(history: Path, tmp_path: Path) -> None:
    with Store.open(str(history), create=False) as store:
        site.write(facts.read(store, against=store.campaigns()[0].uid), str(tmp_path))
    text = text_of(tmp_path / "index.html")
    assert "Changed 4 worse since" in text
    assert text.count(" worse ") == 5


# Names, times, order


def test_both_bubblewraps_are_columns_named_for_what_they_are(pages: Path) -> None:
    for name in ("index", "capabilities", "skills", "suites", "syscalls"):
        text = text_of(pages / f"{name}.html")
        assert "bubblewrap + wardian&#39;s filter" in text, name
        assert "stock bubblewrap" in text, name


def test_findings_come_before_the_rest_and_the_answers_before_them(pages: Path) -> None:
    text = (pages / "index.html").read_text()
    places = [text.index(f'id="{one}"') for one in ("findings", "sandboxes", "changed", "time")]
    assert places == sorted(places)
    answers = text[: places[0]]
    for question in ("Holds most", "Runs most", "Changed", "To do"):
        assert question in answers


def test_campaigns_are_named_with_their_time(newest: Facts, pages: Path) -> None:
    text = text_of(pages / "index.html")
    assert f"{newest.campaign.night} 02:30 UTC" in text
    assert newest.previous is not None
    assert f"since {newest.previous.night} 02:30" in text
    other = newest.campaign._replace(night="2025-12-31")
    assert labels.when(other) == f"2025-12-31 (measured {newest.campaign.night} 02:30)"


def test_the_footer_says_where_and_when_in_words(newest: Facts, pages: Path) -> None:
    for name in site.PAGES:
        footer = text_of(pages / f"{name}.html").rpartition("Measured on")[2]
        assert "nursery (Linux 6.13.1, x86_64)" in footer.replace("  ", " ")
        assert "as the user with id 1000" in footer
        assert f"wardian report --campaign {newest.campaign.uid[:12]}" in footer
        assert "sha256:" not in footer


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "250 ms"), (4.21, "4.2 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations_are_read_at_a_glance(seconds: float, text: str) -> None:
    assert labels.lasting(seconds) == text


# Capabilities, skills, timeline


def test_capabilities_begin_where_sandboxes_differ_and_are_headed_by_their_sentence(
    newest: Facts, pages: Path
) -> None:
    rows = views.capabilities(newest)
    differing = [one for one in rows if one.differs]
    assert 0 < len(differing) < len(rows)
    assert all(one.group in ("kernel", "network") for one in differing), "the host counts not"
    text = (pages / "capabilities.html").read_text()
    heads = re.findall(r'<th scope="row"><a href="#([^"]*)">([^<]*)</a>', text)
    assert [anchor for anchor, _ in heads[: len(differing)]] == [one.anchor for one in differing]
    assert all(sentence.startswith("Tries thing") for _, sentence in heads)


def test_beside_a_single_sandbox_the_host_counts(tmp_path: Path) -> None:
    newest = with_results(tmp_path / "store.sqlite", [
        (probe("core__kernel__mount", "wardian"), "blocked_expected"),
        (probe("core__kernel__mount", "host"), "supported"),
    ])  # fmt: skip
    assert [one.differs for one in views.capabilities(newest)] == [True]


def test_skills_have_totals(newest: Facts, pages: Path) -> None:
    groups = views.skills(newest)
    working = dict(zip(newest.sandboxes, views.working(groups), strict=True))
    assert working["wardian"] == views.PassCount(5, 5)
    assert working["bubblewrap"] == views.PassCount(4, 5), "notebook fails there"
    text = text_of(pages / "skills.html")
    assert "Skills that work 5 of 5 4 of 5 5 of 5" in text
    assert "Cases that pass" in text


def test_the_timeline_shows_what_ever_changed_and_nothing_else(newest: Facts, pages: Path) -> None:
    changed = {one.identity for one in events(NIGHTS) if one.identity[0] != "check"}
    shown = {(one.name, line.sandbox) for one in strips.stories(newest) for line in one.lines}
    assert shown == {identity[1:] for identity in changed}
    text = (pages / "timeline.html").read_text()
    assert text.count('class="story"') == len({name for name, _ in shown})
    assert f"{len(newest.followed) - len(changed)} other cases never changed" in text


def test_the_axis_runs_from_the_first_campaign_to_the_last(newest: Facts, pages: Path) -> None:
    found = labels.ticks(newest.campaigns)
    assert found[0] == labels.Tick(50 / NIGHTS, "01-01 02:30")
    assert found[-1].text == f"{newest.campaign.night[5:]} 02:30"
    assert found[-1].place == pytest.approx(100 - 50 / NIGHTS)
    assert [one.place for one in found] == sorted(one.place for one in found)
    assert len(labels.ticks(newest.campaigns[:1])) == 1
    text = (pages / "timeline.html").read_text()
    for one in found:
        assert f">{one.text}</span>" in text


def test_a_figure_that_never_changed_has_no_course(newest: Facts) -> None:
    found = {(one.sandbox, one.figure) for one in scores.courses(newest)}
    assert found == {
        ("gvisor", "stopped"), ("bubblewrap", "working"), ("wardian", "working"),
    }  # fmt: skip


# Pages without content


def tabs(page: Path) -> list[str]:
    nav = page.read_text().partition("<nav")[2].partition("</nav>")[0]
    return re.findall(r">([^<>\n]+)</a>", nav)


def test_tabs_without_content_are_hidden_and_their_pages_say_what_is_missing(
    tmp_path: Path, pages: Path
) -> None:
    assert tabs(pages / "index.html") == ["Overview", "Capabilities", "Skills", "Suites",
                                          "Timeline"]  # fmt: skip
    newest = with_results(
        tmp_path / "store.sqlite", [(probe("core__kernel__mount", "wardian"), "blocked_expected")]
    )
    place = tmp_path / "site"
    assert {one.name for one in site.write(newest, str(place))} == set(site.PAGES)
    assert tabs(place / "index.html") == ["Overview", "Capabilities"]
    assert tabs(place / "suites.html") == ["Overview", "Capabilities", "Suites"]
    for name in ("syscalls", "skills", "suites", "timeline"):
        assert 'class="empty"' in (place / f"{name}.html").read_text(), name
    assert "first campaign" in text_of(place / "index.html")


def test_a_campaign_of_nothing_has_pages_that_say_so(tmp_path: Path) -> None:
    site.write(with_results(tmp_path / "store.sqlite", []), str(tmp_path / "site"))
    assert tabs(tmp_path / "site/index.html") == ["Overview"]
    assert "Nothing was measured in any sandbox" in text_of(tmp_path / "site/index.html")
    assert "No capability was measured" in text_of(tmp_path / "site/capabilities.html")


def test_a_campaign_that_goes_on_while_it_is_drawn_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = with_results(tmp_path / "store.sqlite", [])
    store, read = newest._store, newest._store.lines

    def lines(campaigns: object) -> object:
        with Store.open(str(tmp_path / "store.sqlite")) as other:
            late = probe("core__kernel__late", "wardian")
            other.record(newest.campaign, [Write(late, Outcome("blocked_expected"))])
        return read(campaigns)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "lines", lines)
    assert ("probe", "core__kernel__late", "wardian") in newest.lines
