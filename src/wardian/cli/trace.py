"""``wardian trace``: run as ``exec`` and ``run`` do, and report everything the run did."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any

from wardian.cli import output, running
from wardian.cli.exec import run_command
from wardian.cli.options import EXEC_OPTIONS, Given, Option, one, parse, parse_between, verbosity
from wardian.cli.run import run_script
from wardian.errors import UsageError
from wardian.observe.events import Reader
from wardian.observe.trace import Tracer
from wardian.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from wardian.cli.spool import Spool, SpooledDocument
    from wardian.observe.events import Event
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Result

TRACE_OPTIONS = (
    Option("follow", "", "Print each call as it happens, instead of the report.", short="f"),
    Option("perfetto", "FILE", "Write a timeline for ui.perfetto.dev or chrome://tracing."),
    Option(
        "to",
        "FILE",
        "Write the report, JSON or followed calls to FILE (default: stderr).",
        short="o",
    ),
    *(
        option._replace(help="One JSON document; captures the output unless -o is given.")
        if option.name == "json"
        else option
        for option in EXEC_OPTIONS
    ),
)

HELP = """Run a skill's script or a command and report everything it did.

The report lists programs as a tree; files read, written, created and deleted; network endpoints;
system calls with counts, errors and time spent waiting; refusals; and resource usage. Options and
exit codes are those of `wardian run` and `wardian exec`. Output passes through; the report follows
on stderr.
"""
EXAMPLES = """\b
Examples:
  wardian trace skills/csv-report report.py --work . -- sales.csv
  wardian trace --json -o trace.json -- sh -c 'ls | wc -l'
  wardian trace --follow -- python3 -c 'import json'

\b
To trace a command, put only options before `--`."""


def run(args: list[str]) -> int:
    """Run ``wardian trace ARGS`` and return its exit code. Raises WardianError."""
    given, left = parse(args, TRACE_OPTIONS)
    is_command = "--" in args[: len(args) - len(left)]
    words = left
    if not is_command:
        given, words = parse_between(args, TRACE_OPTIONS)
    if "help" in given:
        from wardian.cli import commands

        return commands.run(["trace", "--help"])
    if not words:
        raise UsageError(
            "no skill or command given",
            hint="wardian trace SKILL SCRIPT [OPTIONS] -- ARGS…, or wardian trace -- COMMAND",
        )
    with Tracing(given) as tracing:
        if is_command:
            return run_command(words, tracing.given, tracing)
        if "skill" in given:
            raise UsageError(
                "--skill needs a command",
                hint="usage: wardian trace SKILL SCRIPT, or wardian trace --skill SKILL -- COMMAND",
            )
        return run_script(words, tracing.given, tracing)


class Tracing:
    """The watcher of one run: collects its events, and writes followed calls as they come."""

    def __init__(self, given: Given) -> None:
        self.follows, self.as_json = "follow" in given, "json" in given
        self._verbose, self._quiet = verbosity(given), "quiet" in given
        if self.follows and self.as_json:
            raise UsageError("--follow and --json cannot be combined")
        self._paths = [one(given, "to"), one(given, "perfetto")]
        if self._paths[0] is not None and self._paths[0] == self._paths[1]:
            raise UsageError("-o and --perfetto need different files")
        self.given = {k: v for k, v in given.items() if k not in ("follow", "perfetto", "to")}
        if self._paths[0] is not None:
            self.given.pop("json", None)  # output passes through
        self._reader, self._tracer = Reader(), Tracer()
        self._failed: OSError | None = None

    def __enter__(self) -> Tracing:
        from wardian.observe.timeline import Timeline

        self._arch = os.uname().machine
        self._timeline = Timeline(self._tracer, self._arch)
        self._to, self._perfetto = (_opened(path) for path in self._paths)
        if self._perfetto is not None:
            self._write(self._perfetto, self._timeline.begin())
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._to, self._perfetto):
            if file is not None:
                try:
                    file.close()
                except OSError as error:
                    error.filename = file.name
                    self._failed = self._failed or error

    # RunWatcher

    def sandbox(
        self, policy: Policy, *, backend_name: str, private_work: bool = False
    ) -> _TracedSandbox:
        """A sandbox whose run is traced."""
        sandbox = _TracedSandbox(policy, backend_name=backend_name, private_work=private_work)
        sandbox.tracing = self
        return sandbox

    def report(self, result: Result, about: dict[str, Any], spool: Spool | None) -> int:
        """Write the report. Raises OSError if a file could not be written."""
        trace = self._tracer.trace(result)
        if self._perfetto is not None:
            self._write(self._perfetto, self._timeline.end(trace.processes, result.usage.wall_s))
        if self.as_json:
            from wardian.cli.spool import SpooledDocument

            within = SpooledDocument(spool) if spool is not None else None
            document = running.document_of(result, within) | about
            self._json(_valid(trace.document() | {"result": document}), within)
        elif not self.follows and not self._quiet:
            from wardian.cli.trace_page import page

            for line in page(trace, width=self._width(), verbose=self._verbose):
                self._line(line)
        else:
            running.report_result(result, verbose=self._verbose, quiet=self._quiet)
        self.__exit__()
        if self._failed is not None:
            raise self._failed
        return result.exit_code

    @property
    def every(self) -> bool:
        """Whether every call is traced, or each kind of access once."""
        return self.follows or self._perfetto is not None

    def feed(self, data: bytes) -> None:
        """The ``on_trace`` of the run."""
        for event in self._reader.feed(data):
            self._take(event)

    def _take(self, event: Event) -> None:
        self._tracer.take(event)
        if self.follows:
            from wardian.observe.follow import line

            text = line(event, self._tracer, self._arch)
            if text is not None:
                self._line(text)
        if self._perfetto is not None:
            self._write(self._perfetto, self._timeline.add(event))

    # Writing; an error here does not end the guest

    def _json(self, document: dict[str, Any], within: SpooledDocument | None) -> None:
        if self._to is None:
            from wardian.cli.spool import print_json

            print_json(document, within)
        else:
            import json

            self._write(self._to, json.dumps(document, indent=2) + "\n")

    def _line(self, text: str) -> None:
        if self._to is None:
            output.say(text)
        else:
            self._write(self._to, text + "\n")

    def _write(self, file: IO[str], text: str) -> None:
        if self._failed is None:
            try:
                file.write(text)
            except OSError as error:
                error.filename = file.name
                self._failed = error

    def _width(self) -> int:
        import shutil

        if self._to is None and sys.stderr.isatty():
            return max(60, shutil.get_terminal_size().columns)
        return 100


class _TracedSandbox(Sandbox):
    tracing: Tracing

    def start_inherited(self, command: Sequence[str], **options: Any) -> Process:
        options |= {"on_trace": self.tracing.feed, "trace_every": self.tracing.every}
        return super().start_inherited(command, **options)


def _opened(path: str | None) -> IO[str] | None:
    if path is None:
        return None
    if not path:
        raise UsageError("a file name cannot be empty")
    from wardian.sandbox.paths.whole_files import open_to_write

    def opener(name: str, flags: int) -> int:
        return open_to_write(name)

    return open(path, "w", encoding="utf-8", errors="backslashreplace", opener=opener)


def _valid(value: Any) -> Any:
    """The document with paths that are not UTF-8 made valid."""
    if isinstance(value, str):
        return value if value.isascii() else output.valid(value)
    if isinstance(value, dict):
        return {key: _valid(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_valid(one) for one in value]
    return value


def __getattr__(name: str) -> click.Command:
    if name != "command":
        raise AttributeError(name)
    from wardian.cli.commands import rendered

    words = ("[skill]", "[script]", "command_or_args...")
    return rendered("trace", run, TRACE_OPTIONS, words, HELP, EXAMPLES)
