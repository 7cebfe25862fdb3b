"""googletest: its list of cases, its running output, its report, and filters. Pure.

What a program prints is not to be trusted: its tests print as well, their children do, bytes that
are no text come in between, and a line may begin where another has not ended.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

# The kernel takes no single argument of more than 128 KiB (MAX_ARG_STRLEN); nobody needs so much.
MAX_FILTER_BYTES = 96 << 10
MAX_LINE = 64 << 10
MARKS = (b"gtest_list_tests", b"libgtest.so")

_NAME = rb"([A-Za-z0-9_./]+)"
_RUN = re.compile(rb"\[ RUN      \] " + _NAME + rb"\s*$")
_END = re.compile(rb"\[( {7}OK|  FAILED |  SKIPPED) \] " + _NAME + rb"(?:$|[^A-Za-z0-9_./])")
_SUITE_FAILED = re.compile(
    rb"\[  FAILED  \] ([A-Za-z0-9_./]+): SetUp(?:TestSuite|TestCase) or TearDown"
)
_SUITE = re.compile(rb"\[-{10}\] \d+ tests? from ([A-Za-z0-9_./]+)(.*)$")
# what googletest prints when all is well with it: the end of a suite, or of all
_GOES_ON = re.compile(rb"^\[(?:-{10}|={10}|  PASSED  )\] ")
_FAILED_HERE = re.compile(rb"^\S+:\d+: Failure\b")
_COUNT = re.compile(rb"\((\d+) ms\)")
_STATUS = {b"OK": "passed", b"FAILED": "failed", b"SKIPPED": "skipped"}


class Listed(NamedTuple):
    """A case as the program lists it."""

    name: str
    parameter: str = ""

    @property
    def disabled(self) -> bool:
        """googletest does not run it: its name, or its suite's, says so."""
        suite, _, case = self.name.partition(".")
        return case.startswith("DISABLED_") or any(
            part.startswith("DISABLED_") for part in suite.split("/")
        )


def parse_list(text: bytes) -> list[Listed]:
    """What ``--gtest_list_tests`` printed; lines that are something else are passed over."""
    found: dict[str, Listed] = {}
    suite = comment = ""
    for raw in text.split(b"\n"):
        line = raw.decode("utf-8", "replace").rstrip("\r")
        name, _, about = line.partition("  # ")
        name = name.rstrip()
        if re.fullmatch(r"[A-Za-z0-9_/]+\.", name):
            suite, comment = name, _parameter(about)
        elif suite and re.fullmatch(r"  [A-Za-z0-9_/]+", name):
            full = suite + name.strip()
            found[full] = Listed(full, _parameter(about) or comment)
    return list(found.values())


def _parameter(comment: str) -> str:
    return comment.partition(" = ")[2].strip()[:200]


class Ended(NamedTuple):
    """A case that has ended, according to the stream; times count from the start of the run.

    What we hear of it comes late, so what happened since ``after_s``, when the case before it had
    ended, may be its own.
    """

    status: str
    began_s: float
    ended_s: float
    output: bytes
    after_s: float = 0.0


class Stream:
    """Follows the running output. ``feed`` may be called from one other thread than the reader."""

    def __init__(self, known: Collection[str], *, keep_bytes: int = 16 << 10) -> None:
        self.known = known
        self.ended: dict[str, Ended] = {}
        self.current: str | None = None
        self.began_s = 0.0
        self.moved_s = 0.0  # when a case began or ended last
        self.after_s = 0.0  # when one ended last
        self.unconfirmed: str | None = None  # it said that it passed, and nothing came since
        self.suites_failed: dict[str, Excerpt] = {}  # what was said of each, beside its cases
        self.outside = Excerpt(keep_bytes)  # what was printed while no case ran
        self._suite: str | None = None
        self._of_suite = Excerpt(keep_bytes)
        self._begun: dict[str, float] = {}
        self._keep = keep_bytes
        self._pending = b""
        self._output = Excerpt(keep_bytes)

    def feed(self, data: bytes, at_s: float) -> None:
        """More of standard output."""
        lines = (self._pending + data).split(b"\n")
        self._pending = lines.pop()
        for line in lines:
            self._line(line, at_s)
        if len(self._pending) > MAX_LINE:
            self._take(self._pending[:-4096])
            self._pending = self._pending[-4096:]

    def feed_error(self, data: bytes) -> None:
        """More of standard error: it belongs to the case that runs."""
        self._take(data)

    def close(self, at_s: float) -> None:
        """There is no more."""
        self._line(self._pending, at_s)
        self._pending = b""

    @property
    def running_output(self) -> bytes:
        """What the case has printed that has begun and not ended."""
        return self._output.bytes

    def _take(self, data: bytes) -> None:
        if self.current is not None:
            self._output.add(data)
        else:
            self.outside.add(data)
            self._of_suite.add(data)

    def _line(self, line: bytes, at_s: float) -> None:
        if b"[" not in line:
            if self.current is None and self._suite is not None and _FAILED_HERE.match(line):
                self.suites_failed.setdefault(self._suite, self._of_suite)  # no summary may come
            self._take(line + b"\n")
            return
        run, end = _RUN.search(line), _END.search(line)
        if _GOES_ON.search(line):
            self.unconfirmed = None
        if run and run[1].decode() in self.known:
            self._take(line[: run.start()])
            self._begin(run[1].decode(), at_s)
        elif end and self._is_end(end[2].decode(), line):
            self._take(line[: end.start()])
            self._end(end[2].decode(), _STATUS[end[1].strip()], at_s)
        else:
            failed, suite = _SUITE_FAILED.search(line), _SUITE.search(line)
            if failed:
                self.suites_failed.setdefault(failed[1].decode(), self.outside)
            if suite and self.current is None:
                ends = suite[2].rstrip().endswith(b" ms total)")
                self._suite = None if ends else suite[1].decode()
                self._of_suite = Excerpt(self._keep)
            self._take(line + b"\n")

    def _begin(self, name: str, at_s: float) -> None:
        self.current, self.began_s, self.moved_s = name, at_s, at_s
        self.unconfirmed = None
        self._begun[name] = at_s
        self._output = Excerpt(self._keep)

    def _is_end(self, name: str, line: bytes) -> bool:
        """The summary at the end names cases again, without a time; a value may hold line ends."""
        return name == self.current or (name in self._begun and bool(_COUNT.search(line)))

    def _end(self, name: str, status: str, at_s: float) -> None:
        before = self.ended.get(name)
        if before is not None and (status != "failed" or before.status == "failed"):
            return  # a child that ran on says it again; only bad news is news
        mine = name == self.current
        output = self._output.bytes if mine else b""
        self.ended[name] = Ended(status, self._begun[name], at_s, output, self.after_s)
        self.moved_s = self.after_s = at_s
        if mine:
            self.current = None
            self.unconfirmed = name if status != "failed" else None


class Excerpt:
    """The beginning and the end of what may be much."""

    def __init__(self, keep_bytes: int) -> None:
        self._half = keep_bytes // 2
        self._head, self._tail, self._left_out = b"", b"", 0

    def add(self, data: bytes) -> None:
        """More of it."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            self._left_out += len(self._tail) - self._half
            self._tail = self._tail[-self._half :]

    @property
    def bytes(self) -> bytes:
        """What is kept of it, and how much is not."""
        left_out, tail = self._left_out, self._tail
        if len(tail) > self._half and left_out:
            left_out, tail = left_out + len(tail) - self._half, tail[-self._half :]
        if left_out:
            return self._head + b"\n[... %d bytes ...]\n" % left_out + tail
        return self._head + tail


class Reported(NamedTuple):
    """A case in the report that the program wrote at its end."""

    status: str
    seconds: float
    text: str


def parse_report(document: Any) -> dict[str, Reported]:
    """The cases of ``--gtest_output=json:``; whatever is not as it should be is passed over."""
    found: dict[str, Reported] = {}
    for suite in _items(document, "testsuites"):
        for case in _items(suite, "testsuite"):
            name = f"{suite.get('name')}.{case.get('name')}"
            failures = [str(one.get("failure", "")) for one in _items(case, "failures")]
            if case.get("status") != "RUN":
                continue
            status = "failed" if failures else "passed"
            if case.get("result") == "SKIPPED" and not failures:
                status = "skipped"
            found[name] = Reported(status, _seconds(case.get("time")), "\n".join(failures))
    return found


def _items(document: Any, name: str) -> list[dict[str, Any]]:
    items = document.get(name) if isinstance(document, dict) else None
    return [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []


def _seconds(text: Any) -> float:
    try:
        return max(0.0, float(str(text).removesuffix("s")))
    except ValueError:
        return 0.0


def filters(wanted: Sequence[str], listed: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Filters that together select the wanted cases, each short enough for an argument, and what
    each selects; suites that are wanted whole are named whole."""
    of_suite: dict[str, set[str]] = {}
    for name in listed:
        of_suite.setdefault(name.partition(".")[0], set()).add(name)
    by_suite: dict[str, list[str]] = {}
    for name in wanted:
        by_suite.setdefault(name.partition(".")[0], []).append(name)
    pieces: list[tuple[str, list[str]]] = []
    for suite, names in by_suite.items():
        if set(names) == of_suite.get(suite):
            pieces.append((f"{suite}.*", names))
        else:
            pieces += [(name, [name]) for name in names]
    found: list[tuple[list[str], list[str]]] = []
    size = MAX_FILTER_BYTES
    for pattern, names in pieces:
        if size + len(pattern) + 1 > MAX_FILTER_BYTES:
            found.append(([], []))
            size = 0
        found[-1][0].append(pattern)
        found[-1][1].extend(names)
        size += len(pattern) + 1
    return [(":".join(patterns), names) for patterns, names in found]


_FAILURE = re.compile(r"^(\S+?:\d+): (?:Failure|Skipped)\b(.*)$")


def first_line(output: str) -> str:
    """The first failure that a case printed, or the reason why it was skipped, in one line."""
    lines = output.splitlines()
    for i, line in enumerate(lines):
        found = _FAILURE.match(line.strip())
        if found:
            said = [found[2].strip(), *(one.strip() for one in lines[i + 1 : i + 5])]
            where = found[1].rpartition("/")[2]
            return f"{where}: {'; '.join(one for one in said if one)}"[:300]
    return ""
