"""The launcher's sources as a house: every file is one thing, small, and found by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import CORE

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 450, 60
SOURCES = sorted(CORE.glob("*.[ch]"))
OWN_LIBC = {"libc.c", "libc_text.c"}  # defines what fortify.h guards
PROGRAMS = {"launch.c", "check.c", "check_plans.c"}  # have a main, or are a part of one


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The first line of each function, and how many lines it has."""
    start = None
    for number, line in enumerate(path.read_text().splitlines()):
        if re.match(r"[a-zA-Z_].*\([^;{]*(,|\{)$", line):
            start = (number, line)
        elif line.startswith("}") and start is not None:
            yield start[1], number - start[0] + 1
            start = None
        elif line.endswith(";") and not line.startswith(" "):
            start = None


@pytest.mark.parametrize("path", [*SOURCES, *sorted(CORE.glob("fuzz/*.[ch]"))], ids=str)
def test_no_function_and_no_file_is_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES
    found = list(functions(path))
    assert found or path.suffix == ".h" or path.name == "omitted_walls.c"
    assert [one for one in found if one[1] > MOST_LINES_OF_A_FUNCTION] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_every_file_says_first_what_it_is(path: Path) -> None:
    assert re.match(r"/\* \S[^*]{10,}", path.read_text())


@pytest.mark.parametrize("path", sorted(CORE.glob("*.c")), ids=lambda path: path.name)
def test_every_file_has_a_header_of_its_name_and_is_built(path: Path) -> None:
    text = path.read_text()
    included = re.findall(r'^#include "(\w+\.h)"', text, re.MULTILINE)
    if path.name in OWN_LIBC:
        assert included == []
        return
    assert included[0] == "fortify.h", "a copy that is too large would not end the launcher"
    if path.name not in PROGRAMS:
        assert included[1] == path.with_suffix(".h").name
        words = re.findall(r"\b\w+\.c\b", (CORE / "Makefile").read_text())
        assert path.name in words
