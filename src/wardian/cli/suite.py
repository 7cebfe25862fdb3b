"""``wardian suite``: run third-party test suites in any sandbox and compare with a baseline."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wardian.cli import output
from wardian.cli.options import bounded_duration
from wardian.cli.paths import NamedPath
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from wardian.measure.suites.outcomes import ProgramResult
    from wardian.measure.suites.report import SuiteReport
    from wardian.measure.target import Target


@click.group(
    "suite",
    epilog="""\b
Examples:
  wardian suite run build/tests --in wardian,host
  wardian suite catalogue gvisor/test/syscalls""",
)
def command() -> None:
    """Run third-party test suites in any sandbox and compare with a baseline."""


@command.command(
    "run",
    epilog="""\b
Examples:
  wardian suite run build/tests --in wardian,bubblewrap,host -o results --resume
  wardian suite run ./epoll_test --filter 'EpollTest.*' --isolate case

\b
Exit code: 0 no regressions (without a baseline: all passed), 1 findings, 2 usage,
3 nothing matches.""",
)
@click.argument("paths", nargs=-1, required=True, type=NamedPath(), metavar="DIR|BINARY...")
@click.option(
    "--in",
    "sandboxes",
    default="wardian",
    show_default=True,
    metavar="NAMES",
    help="Sandboxes, comma-separated: wardian, bubblewrap, gvisor, host.",
)
@click.option(
    "--baseline",
    metavar="NAME|none",
    help="Compare with this sandbox (default: host, if --in names it among others).",
)
@click.option("--jobs", type=click.IntRange(1, 256), metavar="N",
              help="Parallel jobs (default: number of CPUs).")  # fmt: skip
@click.option("--shard", metavar="I/N", help="Run part I of N of the cases.")
@click.option(
    "--filter",
    "only",
    multiple=True,
    metavar="GLOB",
    help="Only cases that match: CASE, PROGRAM or PROGRAM:CASE. Repeatable.",
)
@click.option(
    "--exclude", "without", multiple=True, metavar="GLOB", help="Skip cases that match. Repeatable."
)
@click.option("--timeout", default="60s", show_default=True, metavar="DURATION",
              help="Time limit of each case.")  # fmt: skip
@click.option(
    "--isolate",
    type=click.Choice(["program", "case"]),
    default="program",
    show_default=True,
    help="Use a fresh sandbox for each program or each case.",
)
@click.option(
    "--protocol",
    default="auto",
    metavar="NAME",
    show_default=True,
    help="How programs report results: auto, gtest, tap or exit.",
)
@click.option(
    "--policy", default="conformance", show_default=True, metavar="FILE|PRESET", help="The policy."
)
@click.option("--read", "reads", multiple=True, metavar="PATH[:AT]",
              help="Share a path read-only. Repeatable.")  # fmt: skip
@click.option("--env", "env", multiple=True, metavar="NAME=VALUE",
              help="Set a variable. Repeatable.")  # fmt: skip
@click.option(
    "--source",
    "sources",
    type=NamedPath(exists=True, path_type=Path),
    help="Sources of the tests, to group results by system call.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=NamedPath(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the result of each program to DIR/SANDBOX/PROGRAM.json.",
)
@click.option("--resume", is_flag=True, help="Skip programs with an unchanged result in -o DIR.")
@click.option(
    "--junit", type=NamedPath(dir_okay=False, path_type=Path), help="Write JUnit XML to this file."
)
@click.option(
    "--blame",
    is_flag=True,
    help="Find the wall behind each regression, by removing walls one at a time.",
)
@click.option("--all", "every", is_flag=True, help="Print all entries of each list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
@click.pass_context
def run(
    ctx: click.Context,
    paths: tuple[str, ...],
    sandboxes: str,
    baseline: str | None,
    jobs: int | None,
    shard: str | None,
    only: tuple[str, ...],
    without: tuple[str, ...],
    timeout: str,
    isolate: str,
    protocol: str,
    policy: str,
    reads: tuple[str, ...],
    env: tuple[str, ...],
    sources: Path | None,
    directory: Path | None,
    resume: bool,
    junit: Path | None,
    blame: bool,
    every: bool,
    as_json: bool,
) -> None:
    """Run the cases of test programs, each program in a fresh sandbox, and compare.

    A crash or a hang fails one case; the rest of the program continues in another sandbox. With a
    baseline, cases that pass only there are listed by cause, with the refusals.
    """
    from wardian.errors import NothingMatched, UsageError
    from wardian.measure.suites import report
    from wardian.measure.suites.execution import RunOptions
    from wardian.measure.suites.keeping import Keeping
    from wardian.measure.suites.programs import check_protocol, find_programs
    from wardian.measure.suites.selection import Selection, parse_shard
    from wardian.measure.suites.suite import OnProgress, run_suite

    if resume and directory is None:
        raise UsageError("--resume needs the directory of earlier results: -o DIR")
    names, baseline = _names(sandboxes, baseline)
    if blame and baseline is None:
        raise UsageError("--blame needs a baseline", hint="add one: --baseline host")
    part, parts = parse_shard(shard) if shard is not None else (1, 1)
    options = RunOptions(
        Selection(only, without, part, parts),
        bounded_duration("timeout", timeout, "60s"),
        isolate == "case",
        tuple(_variables(env)),
    )
    found = find_programs(paths, check_protocol(protocol))
    targets = _targets(names, policy, reads)
    _announce(targets, baseline, found.passed_over)
    calls_of = _calls_of(sources)
    started = time.monotonic()
    progress = SuiteProgress(len(found.programs) * len(targets))
    with interruptible(lambda: progress.kept(directory)), progress, _ended_by_signals():
        results = run_suite(
            found.programs,
            targets,
            options,
            jobs=jobs,
            keeping=Keeping(str(directory) if directory is not None else None, resume),
            baseline=baseline,
            blame=blame,
            on_progress=OnProgress(progress.case, progress.program, progress.second_look),
        )
    if not any(one.outcomes for one in results):
        raise NothingMatched("no case matches", hint="check --filter, --exclude and --shard")
    measured = report.SuiteReport(results, targets, baseline, calls_of, time.monotonic() - started)
    if junit is not None:
        junit.write_text(report.junit(measured), encoding="utf-8")
    _report(measured, as_json=as_json, every=every)
    ctx.exit(1 if report.is_bad(measured) else 0)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End running tests when a signal ends us; on the host nothing else would. Ignored signals
    (nohup) stay ignored."""
    import signal

    def end(number: int, frame: object) -> None:
        raise click.exceptions.Exit(128 + number)

    heard = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    previous = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _names(sandboxes: str, baseline: str | None) -> tuple[list[str], str | None]:
    """The sandboxes, the baseline among them, and the baseline."""
    from wardian.measure.target import check_targets

    names = list(check_targets(sandboxes))
    if baseline is None:
        baseline = "host" if "host" in names and len(names) > 1 else "none"
    if baseline == "none":
        return names, None
    baseline = check_targets(baseline)[0]
    return (names if baseline in names else [*names, baseline]), baseline


def _targets(names: Sequence[str], policy: str, reads: Sequence[str]) -> list[Target]:
    from wardian.cli.options import base_policy
    from wardian.measure.target import target
    from wardian.sandbox.policy.policy import Share

    shares = [Share.parse(text, write=False, base=os.getcwd()) for text in reads]
    wanted = base_policy(policy).with_shares(shares)
    return [target(name, wanted) for name in names]


def _variables(env: Sequence[str]) -> Iterator[tuple[str, str]]:
    from wardian.errors import UsageError
    from wardian.sandbox.policy.policy import check_environment_name

    for text in env:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--env: {text!r} is not NAME=VALUE")
        yield check_environment_name(name), value


def _announce(targets: Sequence[Target], baseline: str | None, passed_over: Sequence[str]) -> None:
    for one in targets:
        if one.degraded:
            output.say(f"{one.name} does not support: {', '.join(one.degraded)}")
    if "host" in [one.name for one in targets] and os.geteuid() == 0 and baseline == "host":
        output.say("warning: root on the host, a user in sandboxes: run as a user to compare")
    if passed_over:
        names = ", ".join(os.path.basename(one) for one in passed_over[:5])
        more = f" and {len(passed_over) - 5} more" if len(passed_over) > 5 else ""
        output.say(f"skipped, not googletest: {names}{more}")


def _calls_of(sources: Path | None) -> dict[str, tuple[str, ...]]:
    from wardian.measure.suites.catalogue import calls_of_cases, calls_of_programs, read_catalogue

    if sources is None:
        return calls_of_programs()
    return calls_of_cases(read_catalogue(str(sources)))


def _report(measured: SuiteReport, *, as_json: bool, every: bool) -> None:
    from wardian.measure.suites import report

    if as_json:
        output.print_json(report.document(measured))
    else:
        for line in report.table(measured):
            output.print_text(line)
        for lines in (
            report.call_lines(measured, every=every),
            report.troubles(measured, every=every),
        ):
            for line in ("", *lines) if lines else ():
                output.print_text(line)
    for line in report.summary(measured):
        output.say(line)
    output.say(f"in {measured.seconds:.1f} s")


class SuiteProgress(Progress):
    """Counts finished programs and cases. Thread-safe."""

    def __init__(self, total: int) -> None:
        super().__init__("suite run", total, unit=" programs")
        self._cases, self._failed = 0, 0
        self._again: int | None = None

    def case(self, sandbox: str, program: str, case: str, status: str) -> None:
        """Count one case."""
        from wardian.measure.suites.outcomes import BAD

        with self._lock:
            if self._again is None:
                self._cases += 1
                self._failed += status in BAD
            else:
                self._again -= 1
            self._show(sandbox, program)

    def program(self, result: ProgramResult, kept: bool) -> None:
        """Count one program; ``kept``: its result was reused."""
        with self._lock:
            if kept:
                self._cases += len(result.outcomes)
            self.done += 1
            self._show(result.sandbox, result.program, now=True)

    def second_look(self, count: int) -> None:
        """``count`` cases run again, each alone."""
        with self._lock:
            self._again = count

    def kept(self, directory: Path | None) -> str:
        """What an interrupt leaves, and how to go on."""
        if directory is None:
            return "no result was kept; with -o DIR each finished program is, for --resume"
        return (
            f"the results of {self.done} of {self.total} programs are in {directory}/;"
            " go on: the same command with --resume"
        )

    def _show(self, sandbox: str, program: str, *, now: bool = False) -> None:
        from wardian.text import printable

        again = f", {self._again} to run again" if self._again is not None else ""
        detail = f"{self._cases} cases, {self._failed} not passed{again}"
        self.show(detail=detail, note=printable(f"{sandbox}: {program}")[:40], now=now)


@command.command(
    "catalogue",
    epilog="""\b
Examples:
  wardian suite catalogue gvisor
  wardian suite catalogue tests/ --json

\b
Exit code: 0 success, 1 the table names missing tests, 2 usage, 3 no cases found.""",
)
@click.argument("path", type=NamedPath(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def catalogue(ctx: click.Context, path: Path, as_json: bool) -> None:
    """List the system calls that the googletest sources at PATH exercise, by case."""
    from wardian.measure.suites import catalogue as work

    found = work.read_catalogue(str(path))
    if as_json:
        output.print_json(work.document(found))
    else:
        for line in work.lines(found):
            output.print_text(line)
    output.say(work.summary(found))
    ctx.exit(1 if work.absent_files(found) else 0)
