"""A run as a timeline for ui.perfetto.dev or chrome://tracing: the Trace Event Format, in JSON.

Each process and thread is a track. Programs are slices on their process's first track, calls that
waited are slices in them, other calls are instants. Processes and threads are numbered anew, since
the viewers take a number that comes again for the same thing.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from wardian.observe.events import Became, Event, Total, TracedCall, Waited
from wardian.observe.follow import called_text, command_text

if TYPE_CHECKING:
    from wardian.observe.trace import ProcessTrace, TracedProcess, Tracer

MOST_TEXT = 400
Json = dict[str, Any]


class Timeline:
    """Turns events into pieces of one JSON document: ``begin``, ``add`` each, then ``end``."""

    def __init__(self, tracer: Tracer, arch: str) -> None:
        self._tracer, self._arch = tracer, arch
        self._tracks: dict[tuple[int, int], int] = {}
        self._pending: dict[tuple[int, int], Json] = {}  # it may turn out to have waited
        self._written = 0

    def begin(self) -> str:
        """How the document begins."""
        return '{"displayTimeUnit":"ms","traceEvents":['

    def add(self, event: Event) -> str:
        """The piece for an event that the tracer has taken already; it may be empty."""
        if isinstance(event, Total):
            return ""
        seen = self._tracer.process(event.process)
        if seen is None:
            return ""
        if isinstance(event, Became):
            return self._pieces(self._named(seen, 0)) if seen.first is event else ""
        thread = seen.thread(event.task)
        key = (seen.id, thread)
        if isinstance(event, Waited):
            waiting = self._pending.pop(key, None)
            if waiting is not None and waiting["name"] == event.name:
                return self._pieces([waiting | {"ph": "X", "dur": _us(event.time_s)}])
            return ""
        named = [] if key in self._tracks else self._named(seen, thread)
        before = self._pending.pop(key, None)
        self._pending[key] = self._called(event, key)
        return self._pieces([*named, *([_instant(before)] if before else [])])

    def end(self, processes: tuple[TracedProcess, ...], until_s: float) -> str:
        """The rest, with each program's slice: it ended with its process, or with the run."""
        rest = [_instant(event) for event in self._pending.values()]
        for process in processes:
            rest += self._programs(process, max(until_s, process.started_s))
        return self._pieces(rest) + '\n],"otherData":{"schema":"wardian.timeline/1"}}\n'

    def _named(self, seen: ProcessTrace, thread: int) -> list[Json]:
        """Metadata for a track that is seen for the first time."""
        number = self._tracks[seen.id, thread] = len(self._tracks) + 1
        process = self._tracks[seen.id, 0] if thread else number
        base = {"ph": "M", "pid": process, "tid": number}
        named = [base | {"name": "thread_name", "args": {"name": _thread_name(seen, thread)}}]
        if not thread:
            order = {"name": "process_sort_index", "args": {"sort_index": seen.id}}
            named.append(base | order)
        return named

    def _programs(self, process: TracedProcess, until_s: float) -> Iterator[Json]:
        number = self._tracks.get((process.id, 0))
        if number is None:
            return
        base = {"pid": number, "tid": number}
        named = f"{_short(process)} ({process.inner_pid})"
        yield base | {"ph": "M", "name": "process_name", "args": {"name": named}}
        ends = [one.started_s for one in process.programs[1:]]
        ends.append(process.ended_s if process.ended_s is not None else until_s)
        for program, end_s in zip(process.programs, ends, strict=True):
            yield base | {
                "ph": "X",
                "cat": "program",
                "name": _cut(command_text(program.command[:1]) or "?"),
                "ts": _us(program.started_s),
                "dur": _us(max(end_s - program.started_s, 0)),
                "args": {"command": _cut(command_text(program.command)), "path": program.path},
            }

    def _called(self, call: TracedCall, key: tuple[int, int]) -> Json:
        args = {"call": _cut(called_text(call, self._arch))}
        if call.error:
            args["error"] = errno.errorcode.get(call.error, str(call.error))
        return {
            "name": call.name,
            "cat": "syscall",
            "ts": _us(call.at_s),
            "pid": self._tracks.get((key[0], 0), 0),
            "tid": self._tracks.get(key, 0),
            "args": args,
        }

    def _pieces(self, events: Iterable[Json]) -> str:
        pieces = []
        for event in events:
            pieces.append(",\n" if self._written else "\n")
            pieces.append(json.dumps(event, separators=(",", ":")))
            self._written += 1
        return "".join(pieces)


def _instant(event: Json) -> Json:
    return event | {"ph": "i", "s": "t"}


def _thread_name(seen: ProcessTrace, thread: int) -> str:
    return f"thread {thread}" if thread else f"pid {seen.first.inner_pid}"


def _short(process: TracedProcess) -> str:
    return _cut(command_text(process.command[:1]).rsplit("/", 1)[-1] or "?")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)


__all__ = ["Timeline"]
