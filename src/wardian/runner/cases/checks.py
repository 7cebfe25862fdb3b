"""What came of a case against what was expected, and against what another backend gave. Pure, but
for regular expressions, which are evaluated in a process of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from wardian.runner.cases.model import CaseExpectation, FileExpectation, TextExpectation
from wardian.runner.cases.patterns import Matcher, PatternError

SHOWN = 200


class Observed(NamedTuple):
    """One run, its own paths replaced by the names they have inside."""

    exit: int
    reason: str
    stdout: str
    stderr: str
    files: Mapping[str, bytes]
    refused: tuple[str, ...] = ()


def problems(expect: CaseExpectation, seen: Observed, *, sandboxed: bool) -> list[str]:
    """Sentences, one for each expectation that was not met. Refusals are a sandbox's business."""
    found = []
    if expect.exit is not None and seen.exit != expect.exit:
        tail = f"; stderr ends with: {_shown(seen.stderr[-SHOWN:])}" if seen.stderr else ""
        found.append(f"exit code {seen.exit}, not {expect.exit} ({seen.reason}){tail}")
    if sandboxed and expect.reason is not None and seen.reason != expect.reason:
        found.append(f"it ended with {seen.reason!r}, not {expect.reason!r}")
    matcher = Matcher()
    found += _text_problems("stdout", expect.stdout, seen.stdout, matcher)
    found += _text_problems("stderr", expect.stderr, seen.stderr, matcher)
    for path, wanted in expect.files:
        found += _file_problems(path, wanted, seen.files.get(path), matcher)
    for kind in expect.refused if sandboxed else ():
        if kind not in seen.refused:
            refused = ", ".join(sorted(set(seen.refused))) or "nothing"
            found.append(f"no {kind} access was blocked; blocked: {refused}")
    return found


def differences(compare: tuple[str, ...], one: Observed, oracle: Observed, name: str) -> list[str]:
    """What differs from the oracle, in the parts that the case wants compared."""
    found = []
    if "exit" in compare and one.exit != oracle.exit:
        found.append(f"exit code {one.exit}, but {oracle.exit} in {name}")
    for stream in ("stdout", "stderr"):
        mine, theirs = getattr(one, stream), getattr(oracle, stream)
        if stream in compare and mine != theirs:
            found.append(f"{stream} differs from {name}: {_first_difference(mine, theirs)}")
    if "files" in compare:
        for path in sorted(one.files.keys() | oracle.files.keys()):
            if path not in oracle.files:
                found.append(f"{path} was created here, but not in {name}")
            elif path not in one.files:
                found.append(f"{path} was not created here, but is in {name}")
            elif one.files[path] != oracle.files[path]:
                found.append(f"{path} differs from {name}")
    return found


def _text_problems(
    stream: str, expect: TextExpectation, text: str, matcher: Matcher
) -> Iterator[str]:
    if expect.equals is not None and text != expect.equals:
        yield f"{stream} is not as expected: {_first_difference(text, expect.equals)}"
    for part in expect.contains:
        if part not in text:
            yield f"{stream} lacks {_shown(part)}; it is {_shown(text)}"
    for part in expect.lacks:
        if part in text:
            yield f"{stream} holds {_shown(part)}"
    if expect.matches is not None:
        yield from _pattern_problem(
            stream, expect.matches, text, matcher, f"; it is {_shown(text)}"
        )


def _pattern_problem(
    what: str, pattern: str, text: str, matcher: Matcher, more: str = ""
) -> Iterator[str]:
    try:
        if not matcher.found(pattern, text):
            yield f"{what} does not match {_shown(pattern)}{more}"
    except PatternError as error:
        yield f"{what} can't be compared with {_shown(pattern)}: {error}"


def _file_problems(
    path: str, expect: FileExpectation, data: bytes | None, matcher: Matcher
) -> Iterator[str]:
    if not expect.exists:
        if data is not None:
            yield f"{path} is there"
        return
    if data is None:
        yield f"{path} is not there"
        return
    text = data.decode("utf-8", "replace")
    if expect.equals is not None and data != expect.equals:
        wanted = expect.equals.decode("utf-8", "replace")
        yield f"{path} is not as expected: {_first_difference(text, wanted)}"
    for part in expect.contains:
        if part not in text:
            yield f"{path} lacks {_shown(part)}"
    if expect.matches is not None:
        yield from _pattern_problem(path, expect.matches, text, matcher)
    if expect.sha256 is not None and hashlib.sha256(data).hexdigest() != expect.sha256:
        yield f"{path} has the SHA-256 {hashlib.sha256(data).hexdigest()}"
    if expect.min_bytes is not None and len(data) < expect.min_bytes:
        yield f"{path} has {len(data)} bytes"


def _first_difference(text: str, wanted: str) -> str:
    mine, theirs = text.splitlines(), wanted.splitlines()
    for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
        if a != b:
            return f"line {number} is {_shown(a)}, not {_shown(b)}"
    if len(mine) != len(theirs):
        return f"{len(mine)} lines, not {len(theirs)}"
    return f"{_shown(text[-40:])} at the end, not {_shown(wanted[-40:])}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
