"""A history that is known, drawn; and a real browser to look at it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.measure.campaign.synthetic import fill
from wardian.measure.pages import facts, site
from wardian.measure.pages.facts import Facts
from wardian.measure.store.store import Store

NIGHTS = 40
# Nothing but the page is asked for: without these Chromium calls its maker.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of forty nights."""
    path = tmp_path_factory.mktemp("history") / "store.sqlite"
    with Store.open(str(path)) as store:
        fill(store, NIGHTS, scale=8)
    return path


@pytest.fixture(scope="session")
def newest(history: Path) -> Iterator[Facts]:
    """The facts of its last campaign."""
    with Store.open(str(history), create=False) as store:
        yield facts.read(store)


@pytest.fixture(scope="session")
def pages(newest: Facts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    place = tmp_path_factory.mktemp("site")
    site.write(newest, str(place))
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; skipped where there is none. Its driver runs an event loop in this
    thread, so it is gone before tests of other modules run."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("not installed: chromium or google-chrome")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()
