"""The most used programs of a Debian system do inside what they do natively, whoever runs them."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from .people import NAMES, PATH, Person, staged

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "programs.md"


class Popular(NamedTuple):
    """A row of popular.toml, whose head explains the fields."""

    name: str
    package: str
    line: str
    needs: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    wall: str = ""
    inside: str = ""
    slow: bool = False
    ci: bool = True

    @property
    def cell(self) -> str:
        """What the page says of it."""
        return f"differs: {self.wall}" if self.wall else "same"


ROWS = [Popular(**row) for row in tomllib.loads((HERE / "popular.toml").read_text())["program"]]


@pytest.fixture(scope="module")
def stage() -> Iterator[Path]:
    with staged() as place:
        yield place


@pytest.mark.parametrize("who", NAMES)
@pytest.mark.parametrize(
    "row", [pytest.param(r, id=r.name, marks=[pytest.mark.long] * r.slow) for r in ROWS]
)
def test_a_popular_program_does_inside_what_it_does_natively(
    row: Popular, who: str, stage: Path
) -> None:
    _installed(row)
    person = Person(who, stage)
    native, inside = person.natively(row.line), person.inside(row.line)
    assert inside.exit_code == native.exit_code, inside.stderr
    if row.wall:
        assert re.fullmatch(row.inside, inside.stdout), (inside.stdout, inside.stderr)
        assert not re.fullmatch(row.inside, native.stdout), "no wall makes a difference any more"
        return
    assert inside.stdout == native.stdout, inside.stderr
    assert inside.files == native.files


def test_sixty_programs_are_listed_once_each() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names)) >= 60
    assert all(bool(row.wall) == bool(row.inside) for row in ROWS)


def test_the_page_lists_every_program_with_its_result() -> None:
    told = re.findall(r"^\| `(\S+)` \| (\S+) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    assert told == [(row.name, row.package, row.cell) for row in ROWS]


def _installed(row: Popular) -> None:
    missing = [name for name in (row.name, *row.needs) if shutil.which(name, path=PATH) is None]
    if missing:
        word = "not installed" if row.ci else "not on this machine"
        pytest.skip(f"{word}: {', '.join(missing)} (Debian: {' '.join((row.package, *row.more))})")
