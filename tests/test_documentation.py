"""Every link of the documentation leads somewhere, to a file and to a heading in it; the index
names every page; and the site is built from the same files."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import COMMAND, environment
from tools.pictures import PICTURES
from tools.quotes import pages, prepare
from tools.terminal import shown

ROOT = Path(__file__).parents[1]
PAGES = [*pages(), ROOT / "CHANGELOG.md"]
LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)"
)
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~)[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """A page without its blocks and spans of code, in which nothing is a link."""
    return re.sub(r"(`+).+?\1", "code", CODE.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page, and those that it sets itself."""
    text = CODE.sub("", page.read_text())
    found: set[str] = set(re.findall(r"<a (?:name|id)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 1
        while (name := slug if number == 1 else f"{slug}-{number - 1}") in found:
            number += 1
        found.add(name)
    return found


def dead_links(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading."""
    dead = []
    text = prose(page)
    for target in LINK.findall(text) + [path for _, path in IMAGE.findall(text)]:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        there = file.exists() and file.is_relative_to(ROOT)
        if not there or (anchor and (file.suffix != ".md" or anchor not in anchors(file))):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert not dead_links(page)


def test_a_dead_link_and_a_dead_anchor_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_documentation.ROOT", tmp_path)
    (tmp_path / "a.md").write_text(
        "# One `two`\n## One: two!\n[x](b.md) [y](#one-two) [z](#three)\n"
    )
    assert dead_links(tmp_path / "a.md") == ["b.md", "#three"]
    (tmp_path / "a.md").write_text("```\n[x](b.md)\n```\n`[y](c.md)` [![p](p.png)](d.md)\n")
    assert sorted(dead_links(tmp_path / "a.md")) == ["d.md", "p.png"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_picture_has_words_for_who_can_not_see_it(page: Path) -> None:
    assert not [path for words, path in IMAGE.findall(prose(page)) if len(words) < 10]


# One word per thing, as the glossary has it; these stood for report, print, record, temporary,
# default, parallel, unavailable and flaky.
NOT_OUR_WORDS = re.compile(
    r"\b(?:tells?|told|telling|untold|for the while|so many at once|unless given|can't be had"
    r"|does not do the same each time|what is in the way|without a word)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    assert not NOT_OUR_WORDS.findall(prose(page))


def test_the_pictures_are_of_runs_as_they_are_today(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "wardian").write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    (programs / "wardian").chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    prepare(here)
    env = environment(PATH=f"{programs}:{os.environ['PATH']}")
    for picture in PICTURES:
        drawing = (ROOT / "docs" / "images" / f"{picture.name}.svg").read_text()
        text = [html.unescape(re.sub(r"<[^>]+>", "", line)) for line in drawing.splitlines()]
        lines = {line.replace("\u00a0", " ").strip() for line in text}
        real = {line.strip() for line in shown(picture.command, here, env).splitlines()}
        steady = {line for line in real if re.match(picture.steady, line)}
        assert steady, real
        assert steady <= lines, f"`make pictures` draws it again: {steady - lines}"


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(prose(index))
    }
    assert not [str(page.relative_to(ROOT)) for page in PAGES if page not in linked | {index}]


def test_the_site_is_built_from_the_same_files_without_a_warning(tmp_path: Path) -> None:
    for module in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", ROOT / "tools" / "site",
         "-d", tmp_path / "cache", ROOT, tmp_path / "site"],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*.html")}
    assert Path("index.html") in made
    pages = {page.relative_to(ROOT).with_suffix(".html") for page in PAGES}
    assert pages <= made
