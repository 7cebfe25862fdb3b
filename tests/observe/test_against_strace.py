"""What ``wardian trace`` reports is what strace sees, of one and the same run.

strace watches wardian from outside, launcher and guest together. What it saw of the guest, from the
execve of its program on, must be what the trace has: each call as often, each task with the same
calls in the same order, the same files opened, made, deleted and executed.

Two differences are explained, for all programs alike. Before that execve it is the launcher's
start. And strace sees a call that a signal takes back before it is made, which nobody else does.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.observe import strace
from tests.observe.programs import PROGRAMS
from wardian.observe.events import Event, Reader, TracedCall
from wardian.observe.trace import Tracer
from wardian.sandbox.run.result import Result

pytestmark = pytest.mark.long

RUN = Path(__file__).with_name("traced_run.py")
_ENDLESS_S = 240


class Both:
    """One run, as the trace has it and as strace does."""

    def __init__(self, name: str, mode: str, tmp_path: Path) -> None:
        program, prepare, command = PROGRAMS[name]
        for needed in (program, "strace"):
            if shutil.which(needed) is None:
                pytest.skip(f"{needed} is not installed")
        self.work = tmp_path / "work"
        self.work.mkdir()
        prepare(self.work)
        self.before = _below(self.work)
        stream, log = tmp_path / "stream", tmp_path / "log"
        done = subprocess.run(
            ["strace", *strace.OPTIONS, "-o", str(log), sys.executable, "-P", str(RUN),
             str(stream), mode, str(self.work), *command],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_ENDLESS_S, check=False,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        self.after = _below(self.work)
        self.events: list[Event] = list(Reader().feed(stream.read_bytes()))
        tracer = Tracer()
        for event in self.events:
            tracer.take(event)
        self.trace = tracer.trace(Result(command, done.returncode, "exited"))
        self.strace = strace.seen(log, self.trace.processes[0].pid, "/work")

    def paths(self, *names: str, last: bool = False) -> set[str]:
        """Of the calls of these names that will succeed."""
        found = set()
        for event in self.events:
            if (
                isinstance(event, TracedCall)
                and event.name in names
                and event.paths
                and not event.error
            ):
                places = sorted(event.paths)
                found.add(event.paths[places[-1 if last else 0]].text)
        return found


def _below(work: Path) -> set[str]:
    found: set[str] = set()
    for folder, folders, files in os.walk(work):
        inside = "/work" + folder.removeprefix(str(work))
        found.update(os.path.join(inside, name) for name in (*folders, *files))
    return found


MOVES = ("rename", "renameat", "renameat2")
MAKES = ("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_calls_and_files_as_strace_sees(name: str, tmp_path: Path) -> None:
    both = Both(name, "once", tmp_path)
    shown = Counter({one.name: one.count for one in both.trace.syscalls})
    assert shown - both.strace.calls == Counter()
    assert both.strace.calls - shown <= both.strace.taken_back
    assert both.paths("open", "openat", "creat") == both.strace.opened
    first = both.trace.processes[0].programs[0].path  # strace may not look into the launcher
    assert both.paths("execve") == both.strace.executed | {first}
    assert both.paths("unlink", "unlinkat", "rmdir", *MOVES) == both.strace.deleted
    assert both.paths(*MAKES, *MOVES, last=True) == both.strace.made
    created = set(both.trace.paths("created"))
    deleted = set(both.trace.paths("deleted"))
    inside = {path for path in created | deleted if path.startswith("/work/")}
    assert both.after - both.before <= created
    assert (created - deleted) & inside <= both.after
    assert both.before - both.after <= deleted


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_task_makes_the_same_calls_in_the_same_order(name: str, tmp_path: Path) -> None:
    both = Both(name, "every", tmp_path)
    shown: dict[int, list[TracedCall]] = {}
    for event in both.events:
        if isinstance(event, TracedCall):
            shown.setdefault(event.task, []).append(event)
    assert set(shown) == set(both.strace.tasks)
    for task, lines in both.strace.tasks.items():
        assert _agree(shown[task], lines), _first_difference(shown[task], lines)


def _agree(shown: list[TracedCall], lines: list[strace.Line]) -> bool:
    """Is one the other, without some of what signals took back? Several ways are tried at once:
    of two calls alike, one taken back, either may be the one that was reported."""
    ways = {0}
    for line in lines:
        on = {at + 1 for at in ways if at < len(shown) and _same(shown[at], line)}
        ways = on | ways if line.taken_back else on
    return len(shown) in ways


def _same(call: TracedCall, line: strace.Line) -> bool:
    """The same call, and for one on a path the same errno; attributes are not looked at."""
    if call.name != line.name or "xattr" in call.name or line.result == "?" or not call.paths:
        return call.name == line.name
    return (errno.errorcode[call.error] if call.error else "") == line.error


def _first_difference(shown: list[TracedCall], lines: list[strace.Line]) -> str:
    for call, line in zip(shown, lines, strict=False):
        if not _same(call, line):
            return f"{call}\nis not\n{line}"
    return f"{len(shown)} calls reported, {len(lines)} seen"
