"""The pages in a real browser: filters, evidence, theme, keys, phone; no errors, no violations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wardian.measure.pages import site
from wardian.measure.pages.facts import Facts
from wardian.measure.pages.labels import label

pytestmark = pytest.mark.long

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
both_widths = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
every_page = pytest.mark.parametrize("page_name", list(site.PAGES))

Show = Callable[..., Any]


@pytest.fixture
def show(browser: Any, pages: Path) -> Iterator[Show]:
    """``show("capabilities", viewport)``: the page; whatever it complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(name: str, viewport: dict[str, int] = DESKTOP, **options: Any) -> Any:
        contexts.append(browser.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.goto(f"file://{pages}/{name}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
@both_widths
def test_a_page_has_no_accessibility_violations(
    show: Show, page_name: str, viewport: dict[str, int], scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = show(f"{page_name}.html", viewport, color_scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []


@every_page
@both_widths
def test_a_page_does_not_scroll_sideways(
    show: Show, page_name: str, viewport: dict[str, int]
) -> None:
    page = show(f"{page_name}.html", viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@both_widths
def test_filters_leave_what_was_asked_for(show: Show, viewport: dict[str, int]) -> None:
    page = show("capabilities.html", viewport)
    rows = page.locator("tr[data-words]:visible")
    everything = rows.count()
    page.locator("#group").select_option("network")
    assert 0 < rows.count() < everything
    assert all("network" in text for text in rows.locator("th").all_inner_texts())
    page.locator("#search").fill("thing_3")
    assert rows.count() == 1
    assert page.locator("#count").inner_text() == f"1 of {everything}"
    page.locator("#search").fill("")
    page.locator("#group").select_option("")
    page.locator("#show").select_option("differs")
    assert 0 < rows.count() < everything
    page.locator("#show").select_option("bad")
    assert rows.count() == 0


@both_widths
def test_a_cell_opens_its_evidence_and_escape_closes_it(
    show: Show, viewport: dict[str, int]
) -> None:
    page = show("capabilities.html", viewport)
    cell = page.locator('a.cell[href="#kernel_thing_1"][data-sandbox="wardian"]')
    cell.click()
    dialog = page.locator("dialog#evidence")
    assert dialog.is_visible()
    assert dialog.locator("h3").inner_text() == "Tries thing 1 of kernel"
    assert "kernel_thing_1" in dialog.inner_text()
    assert dialog.locator(".answer.asked h4").inner_text().startswith("wardian")
    assert "EPERM" in dialog.inner_text()
    assert "mount" in dialog.inner_text(), "the refusals stand there"
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#kernel_thing_1"


def test_a_link_to_evidence_opens_it(show: Show) -> None:
    page = show("capabilities.html#network_thing_2")
    assert page.locator("dialog#evidence h3").inner_text() == "Tries thing 2 of network"


def test_the_theme_is_the_systems_until_somebody_chooses(show: Show) -> None:
    page = show("index.html", color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.locator("#theme").click()
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light, "the choice is kept"
    page.keyboard.press("t")
    assert page.evaluate(paper) == dark


@both_widths
def test_a_system_call_is_found_by_its_name(show: Show, viewport: dict[str, int]) -> None:
    page = show("syscalls.html", viewport)
    tiles = page.locator(".tiles li:visible")
    assert tiles.count() > 350
    page.keyboard.press("/")
    page.keyboard.type("openat")
    assert sorted(tiles.locator("b").all_inner_texts()) == ["openat", "openat2"]
    tiles.first.click()
    assert page.locator("dialog#evidence h3").inner_text() == "openat"


def test_arrows_move_between_cells(show: Show) -> None:
    page = show("capabilities.html")
    page.locator("a.cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    here = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(here).startswith(
        "Tries thing 1 of kernel in bubblewrap + wardian's filter"
    )
    page.keyboard.press("Enter")
    assert page.locator("dialog#evidence").is_visible()


def test_a_search_in_the_timeline_leaves_what_was_asked_for(show: Show) -> None:
    page = show("timeline.html")
    assert page.locator(".story:visible").count() > 1
    page.locator("#search").fill("notebook")
    assert page.locator(".story:visible h3").all_inner_texts() == ["notebook/case 2"]
    page.locator("#search").fill("core__filesystem__probe_0")
    assert page.locator(".story:visible").count() == 0, "it never changed"
    assert page.locator("#nothing").is_visible()


@pytest.mark.parametrize("page_name", ["index", "capabilities", "syscalls", "skills", "suites"])
def test_a_phone_shows_every_sandbox_without_scrolling_sideways(
    show: Show, page_name: str, newest: Facts
) -> None:
    page = show(f"{page_name}.html", PHONE)
    for sandbox in newest.sandboxes:
        heads = page.locator("th:visible, .order b:visible", has_text=label(sandbox))
        box = heads.first.bounding_box()
        assert box is not None, sandbox
        assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE["width"], sandbox
    cells = [one.bounding_box() for one in page.locator("tbody tr:visible td:visible").all()[:60]]
    assert all(one["x"] + one["width"] <= PHONE["width"] for one in cells)


@both_widths
def test_the_names_of_sandboxes_stay_in_sight(show: Show, viewport: dict[str, int]) -> None:
    page = show("capabilities.html", viewport)
    table = page.locator("table.matrix").last
    rows = table.locator("tr[data-words]")
    rows.nth(rows.count() - 3).evaluate(
        "row => row.scrollIntoView({block: 'center', behavior: 'instant'})"
    )
    for one in table.locator("thead th[data-sandbox]").all():
        box = one.bounding_box()
        assert 0 <= box["y"] < viewport["height"] / 3


def test_a_filter_that_nothing_matches_says_so(show: Show) -> None:
    page = show("capabilities.html")
    assert not page.locator("#nothing").is_visible()
    page.locator("#search").fill("no such thing")
    assert page.locator("#nothing").is_visible()
    assert page.locator("h2:visible", has_text="differ").count() == 0


def test_what_was_asked_for_stands_in_the_address(show: Show) -> None:
    page = show("capabilities.html?search=thing_3&group=kernel")
    assert page.locator("tr[data-words]:visible").count() == 1
    assert page.locator("#group").input_value() == "kernel"


def test_without_scripts_everything_is_there(show: Show) -> None:
    page = show("capabilities.html", java_script_enabled=False)
    assert not page.locator(".filters").is_visible()
    page.locator('a.cell[href="#kernel_thing_1"]').first.click()
    section = page.locator("section#kernel_thing_1")
    assert section.is_visible()
    assert "EPERM" in section.text_content()


def test_a_printed_page_has_the_table_and_no_controls(show: Show) -> None:
    page = show("capabilities.html")
    page.emulate_media(media="print")
    assert page.locator("table.matrix").first.is_visible()
    for hidden in (".filters", ".top", ".evidences"):
        assert not page.locator(hidden).first.is_visible()
