"""Everything that a run did, as one value, collected from events during the run."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wardian.observe.actions import ACTIONS, actions
from wardian.observe.events import Became, Event, Reader, Total, TracedCall
from wardian.syscalls.decode import sockaddr_text
from wardian.syscalls.effects import SOCKETS, act_of

if TYPE_CHECKING:
    from typing import Unpack

    from wardian.sandbox.run.result import Refusal, Result, Usage
    from wardian.sandbox.sandbox import CommandOptions, Sandbox

SCHEMA = "wardian.trace/1"
LAUNCHER = ("wardian-launch",)


class File(NamedTuple):
    """A path, and what was done with it, in the order of ``ACTIONS``."""

    path: str
    actions: tuple[str, ...]
    directory: bool = False


class ExecutedProgram(NamedTuple):
    """What a process was at some time. ``path`` is empty for what it was when it was forked."""

    started_s: float
    command: tuple[str, ...]
    path: str = ""


class TracedProcess(NamedTuple):
    """A process of the guest's. What ended by a signal has no ``ended_s`` and no ``exit_code``.

    Pids can come again, ids do not. ``parent`` is an id; None for the first process, and for one
    that had outlived its parent when it was first seen.
    """

    id: int
    parent: int | None
    pid: int
    inner_pid: int
    started_s: float
    programs: tuple[ExecutedProgram, ...]
    ended_s: float | None = None
    exit_code: int | None = None
    threads: int = 1

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of the last program."""
        return self.programs[-1].command


class Endpoint(NamedTuple):
    """An address: ``action`` is connect, bind, send, or resolve, with the name asked for."""

    action: str
    address: str
    name: str = ""


class Trace(NamedTuple):
    """What a run did. ``result`` has its end, its use and its refusals."""

    syscalls: tuple[Total, ...]
    files: tuple[File, ...]
    processes: tuple[TracedProcess, ...]
    endpoints: tuple[Endpoint, ...]
    result: Result

    @property
    def usage(self) -> Usage:
        """What it used at most."""
        return self.result.usage

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What it was refused."""
        return self.result.refusals

    def paths(self, *wanted: str) -> list[str]:
        """The paths with which any of these actions was done, sorted."""
        return [file.path for file in self.files if not set(wanted).isdisjoint(file.actions)]

    def children(self, process: TracedProcess | None) -> list[TracedProcess]:
        """Those that a process started; with None those of nobody known."""
        parent = process.id if process is not None else None
        return [one for one in self.processes if one.parent == parent]

    def document(self) -> dict[str, Any]:
        """As JSON (docs/reference/trace.md)."""
        return {
            "schema": SCHEMA,
            "syscalls": [one._asdict() for one in self.syscalls],
            "files": [{**one._asdict(), "actions": list(one.actions)} for one in self.files],
            "processes": [_process_document(one) for one in self.processes],
            "endpoints": [one._asdict() for one in self.endpoints],
            "result": self.result.document(),
        }


def _process_document(process: TracedProcess) -> dict[str, Any]:
    programs = [one._asdict() | {"command": list(one.command)} for one in process.programs]
    return process._asdict() | {"command": list(process.command), "programs": programs}


class ProcessTrace:
    """A process while it is gathered."""

    def __init__(self, id: int, parent: ProcessTrace | None, became: Became) -> None:
        self.id, self.parent, self.first = id, parent, became
        self.programs = [ExecutedProgram(became.at_s, became.command)]
        self.executing = ""
        self.ended_s: float | None = None
        self.exit_code: int | None = None
        self.tasks: dict[int, int] = {became.process: 0}

    def become(self, became: Became) -> None:
        """It is another program now; what the launcher was is no program of the guest's."""
        path, self.executing = self.executing, ""
        if self.programs[-1].command == LAUNCHER:
            self.programs.pop()
        self.programs.append(ExecutedProgram(became.at_s, became.command, path))

    def thread(self, task: int) -> int:
        """The number of a thread in its process, in the order of their first calls; 0 is first."""
        return self.tasks.setdefault(task, len(self.tasks))

    def value(self) -> TracedProcess:
        """As it is now."""
        return TracedProcess(
            id=self.id,
            parent=self.parent.id if self.parent is not None else None,
            pid=self.first.process,
            inner_pid=self.first.inner_pid,
            started_s=self.first.at_s,
            programs=tuple(self.programs),
            ended_s=self.ended_s,
            exit_code=self.exit_code,
            threads=len(self.tasks),
        )


class Tracer:
    """Gathers a trace: ``feed`` is an ``on_trace``, ``trace`` the value once the run has ended."""

    def __init__(self, arch: str | None = None) -> None:
        self._reader = Reader(arch)
        self._files: dict[str, set[str]] = {}
        self._directories: set[str] = set()
        self._current: dict[int, ProcessTrace] = {}
        self._processes: list[ProcessTrace] = []
        self._totals: list[Total] = []
        self._endpoints: dict[Endpoint, None] = {}

    def feed(self, data: bytes) -> None:
        """Take a piece of the stream."""
        for event in self._reader.feed(data):
            self.take(event)

    def take(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, TracedCall):
            self._call(event)
        elif isinstance(event, Became):
            self._became(event)
        elif isinstance(event, Total):
            self._totals.append(event)

    def trace(self, result: Result) -> Trace:
        """What was gathered, with what came of the run."""
        return Trace(
            syscalls=tuple(sorted(self._totals, key=lambda one: one.name)),
            files=tuple(self._file(path) for path in sorted(self._files)),
            processes=tuple(one.value() for one in self._processes),
            endpoints=_named(self._endpoints, result),
            result=result,
        )

    def process(self, pid: int) -> ProcessTrace | None:
        """The process that has this pid on the host now."""
        return self._current.get(pid)

    def _file(self, path: str) -> File:
        done = self._files[path]
        ordered = tuple(action for action in ACTIONS if action in done)
        return File(path, ordered, path in self._directories)

    def _call(self, call: TracedCall) -> None:
        process = self._current.get(call.process)
        if process is not None:
            process.thread(call.task)
            process.ended_s = None
        act = act_of(call.name)
        for path, action in actions(call):
            self._files.setdefault(path.text, set()).add(action)
            if path.lay == "directory" or (act.word, act.mark) == ("create", "directory"):
                self._directories.add(path.text)
            if action == "executed" and process is not None:
                process.executing = path.text
        if act.word == "exit" and process is not None:
            process.ended_s = call.at_s
            process.exit_code = call.args[0] & 0xFF
        if act.word in SOCKETS and (call.address or call.asked):
            self._touched(call, act.word)

    def _became(self, became: Became) -> None:
        known = self._current.get(became.process)
        if known and known.ended_s is None and known.first.inner_pid == became.inner_pid:
            known.become(became)
            return
        parent = self._current.get(became.parent)
        seen = ProcessTrace(len(self._processes) + 1, parent, became)
        self._current[became.process] = seen  # in place of one that had its number before
        self._processes.append(seen)

    def _touched(self, call: TracedCall, action: str) -> None:
        address = sockaddr_text(call.address) if call.address else ""
        if call.paths:
            address = "unix:" + next(iter(call.paths.values())).text
        action = "resolve" if call.asked else action
        self._endpoints[Endpoint(action, address, call.asked)] = None


def _named(endpoints: Iterable[Endpoint], result: Result) -> tuple[Endpoint, ...]:
    """With a network by name, a connection leads to the name that its address stands for."""
    names = {f"{one.inside}:{one.port}": one.name for one in result.connections}
    return tuple(
        one if one.name else one._replace(name=names.get(one.address, "")) for one in endpoints
    )


def error_name(number: int) -> str:
    """``ENOENT`` for 2."""
    return errno.errorcode.get(number, str(number))


def traced(sandbox: Sandbox, command: Sequence[str], **options: Unpack[CommandOptions]) -> Trace:
    """Run a command to its end, as ``Sandbox.run`` does, and return everything it did.

    Raises SandboxError, and UsageError for a backend that can't trace."""
    tracer = Tracer()
    return tracer.trace(sandbox.trace(command, on_trace=tracer.feed, **options))


__all__ = [
    "SCHEMA",
    "Endpoint",
    "ExecutedProgram",
    "File",
    "Trace",
    "TracedProcess",
    "Tracer",
    "error_name",
    "traced",
]
