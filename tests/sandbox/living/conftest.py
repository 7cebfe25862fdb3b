"""A living sandbox, and what its tests run in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from wardian import Sandbox

PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def place() -> Iterator[Sandbox]:
    """One place, closed after the test."""
    with Sandbox.create() as sandbox:
        yield sandbox


def python(code: str) -> list[str]:
    """A command that runs Python code."""
    return [PYTHON, "-I", "-S", "-c", code]


def launcher_of(sandbox: Sandbox) -> int:
    """The supervisor's pid."""
    return int(sandbox._in_place("this test").pid)


def descriptors(pid: int | str = "self") -> int:
    """How many a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> list[int]:
    """Of the first thread of a process."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]
