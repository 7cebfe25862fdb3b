"""A case: a script, what it is given, what must come of it."""

from __future__ import annotations

from typing import NamedTuple


class FileExpectation(NamedTuple):
    """What one file must be; fields that are None are not looked at."""

    exists: bool = True
    equals: bytes | None = None
    contains: tuple[str, ...] = ()
    matches: str | None = None
    sha256: str | None = None
    min_bytes: int | None = None


class TextExpectation(NamedTuple):
    """What a stream must hold."""

    equals: str | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    matches: str | None = None


class CaseExpectation(NamedTuple):
    """``exit`` is None if any code will do; ``refused`` lists kinds of refusals that must occur."""

    exit: int | None = 0
    stdout: TextExpectation = TextExpectation()
    stderr: TextExpectation = TextExpectation()
    files: tuple[tuple[str, FileExpectation], ...] = ()
    refused: tuple[str, ...] = ()
    reason: str | None = None


class SkillCase(NamedTuple):
    """``before`` are argument lists of earlier runs in the same /work and /state."""

    name: str
    script: str
    args: tuple[str, ...] = ()
    skill: str | None = None
    files: tuple[tuple[str, bytes], ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    stdin: bytes | None = None
    env: tuple[tuple[str, str], ...] = ()
    packages: tuple[str, ...] = ()
    network: str = "none"
    state: bool = False
    time_s: float = 60.0
    compare: tuple[str, ...] = ("exit", "stdout", "files")
    backends: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    expect: CaseExpectation = CaseExpectation()
