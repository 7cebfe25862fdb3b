"""JUnit XML: what CI systems read of test results. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

FAILURE, ERROR, SKIPPED = "failure", "error", "skipped"
# What XML 1.0 can't hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JunitCase(NamedTuple):
    """``kind`` is empty for a case that passed, else failure, error or skipped."""

    name: str
    classname: str
    seconds: float
    kind: str = ""
    message: str = ""
    text: str = ""
    type: str = ""


class JunitSuite(NamedTuple):
    """Cases under one name; ``seconds`` is their sum unless the suite took another time."""

    name: str
    cases: Sequence[JunitCase]
    seconds: float | None = None


def junit(suites: Iterable[JunitSuite]) -> str:
    """The whole document."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for suite in suites:
        counts = Counter(one.kind for one in suite.cases)
        seconds = suite.seconds
        if seconds is None:
            seconds = sum(one.seconds for one in suite.cases)
        lines.append(
            f'  <testsuite name={_attribute(suite.name)} tests="{len(suite.cases)}" '
            f'failures="{counts[FAILURE]}" errors="{counts[ERROR]}" '
            f'skipped="{counts[SKIPPED]}" time="{seconds:.3f}">'
        )
        lines += [f"    {_case(one)}" for one in suite.cases]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _case(one: JunitCase) -> str:
    opening = (
        f"<testcase name={_attribute(one.name)} classname={_attribute(one.classname)} "
        f'time="{one.seconds:.4f}"'
    )
    if not one.kind:
        return f"{opening}/>"
    kind = f" type={_attribute(one.type)}" if one.type else ""
    inner = f"<{one.kind} message={_attribute(one.message)}{kind}>{escape(_held(one.text))}"
    return f"{opening}>{inner}</{one.kind}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_held(text))


def _held(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


__all__ = ["ERROR", "FAILURE", "SKIPPED", "JunitCase", "JunitSuite", "junit"]
