"""``wardian probe``: measure the capabilities of a sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output, probe_fuzz, probe_reading
from wardian.cli.options import bounded_duration
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import in_option, json_option, policy_option, probes_option
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from wardian.measure.probes.artifact import Artifact
    from wardian.measure.probes.expectations import Profile
    from wardian.measure.probes.specimen import Specimen
    from wardian.measure.target import Target

Command = Callable[..., Any]


@click.group(
    "probe",
    epilog="""\b
Examples:
  wardian probe all --in wardian,host
  wardian probe blame core__network__host_port""",
)
def command() -> None:
    """Measure the capabilities of a sandbox. Each probe is one program that observes one thing."""


@command.command(
    "list",
    epilog="""\b
Examples:
  wardian probe list
  wardian probe list --domain network --json

\b
Exit code: 0 success, 2 usage, 3 nothing matches.""",
)
@click.argument("patterns", nargs=-1, metavar="[ID]...")
@click.option("--domain", "domains", multiple=True, help="Only probes of this domain. Repeatable.")
@probes_option
@json_option
def list_probes(
    patterns: tuple[str, ...], domains: tuple[str, ...], probes_dir: str | None, as_json: bool
) -> None:
    """List the probes: ID, capability, language, description."""
    from wardian.measure.probes import report

    found = chosen(probes_dir, patterns, domains)
    if as_json:
        output.print_json(report.listing(found))
        return
    for line in report.list_lines(found):
        output.print_text(line)


def _measuring(function: Command) -> Command:
    """The options that ``run`` and ``all`` share."""
    options: list[Command] = [
        in_option,
        policy_option,
        click.option(
            "--profile",
            "profiles",
            multiple=True,
            metavar="[SANDBOX=]NAME|FILE",
            help="Expected outcomes (default: the sandbox's own profile). Repeatable.",
        ),
        click.option(
            "--domain", "domains", multiple=True, help="Only probes of this domain. Repeatable."
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1, 256),
            metavar="N",
            help="Parallel jobs (default: number of CPUs).",
        ),
        click.option(
            "--timeout",
            default="20s",
            show_default=True,
            metavar="DURATION",
            help="Time limit of each probe.",
        ),
        click.option(
            "--artifacts",
            type=NamedPath(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Write the artifacts to DIR/SANDBOX/ID.json (default: keep none).",
        ),
        click.option("--require-all", is_flag=True, help="Fail if a probe cannot run here."),
        click.option(
            "--junit",
            type=NamedPath(dir_okay=False, path_type=Path),
            help="Write JUnit XML to this file.",
        ),
        probes_option,
        json_option,
        quiet_option,
        click.pass_context,
    ]
    for option in reversed(options):
        function = option(function)
    return function


_EXIT_CODES = """\b
Exit code: 0 all as expected, 1 unexpected outcomes, 2 usage, 3 nothing matches."""


@command.command(
    "run",
    epilog=f"""\b
Examples:
  wardian probe run core__filesystem__tmp_write
  wardian probe run 'core__network__*' --in wardian,host --artifacts out

{_EXIT_CODES}""",
)
@click.argument("patterns", nargs=-1, required=True, metavar="ID...")
@_measuring
def run(ctx: click.Context, patterns: tuple[str, ...], **options: Any) -> None:
    """Run the probes that match an ID, glob or capability."""
    ctx.exit(_measure(patterns, whole=False, **options))


@command.command(
    "all",
    epilog=f"""\b
Examples:
  wardian probe all
  wardian probe all --in wardian,bubblewrap,gvisor,host --junit probes.xml

{_EXIT_CODES}""",
)
@_measuring
def run_all(ctx: click.Context, **options: Any) -> None:
    """Run all probes. Earlier results are not reused."""
    ctx.exit(_measure((), whole=not options["domains"], **options))


def chosen(
    probes_dir: str | None, patterns: Sequence[str], domains: Sequence[str]
) -> list[Specimen]:
    """Raises NothingMatched, InputError."""
    from wardian.measure.probes import specimen

    root = specimen.probes_dir(probes_dir)
    return specimen.select(specimen.find_specimens(root), patterns, domains)


def targets_of(
    sandboxes: str, policy: str | None, profiles: Sequence[str], probes_dir: str | None
) -> tuple[list[Target], dict[str, Profile]]:
    """The targets and the expected outcomes of each. Raises UsageError, PolicyError, InputError."""
    from wardian.cli.options import base_policy
    from wardian.errors import UsageError
    from wardian.measure.probes import expectations, specimen
    from wardian.measure.target import check_targets, target

    names = check_targets(sandboxes)
    wanted = base_policy(policy)
    given: dict[str, str] = {}
    for text in profiles:
        sandbox, equals, profile = text.partition("=")
        if equals and sandbox not in names:
            raise UsageError(f"--profile: {sandbox!r} is not among --in {sandboxes}")
        for name in [sandbox] if equals else names:
            given[name] = profile if equals else text
    roots = {specimen.probes_dir(), specimen.probes_dir(probes_dir)}
    every = [one for root in sorted(roots) for one in specimen.find_specimens(root)]
    known = expectations.Known.of(every)
    expected = {
        name: expectations.read_profile(given.get(name, expectations.default_profile(name)), known)
        for name in names
    }
    return [target(name, wanted) for name in names], expected


def _measure(
    patterns: Sequence[str],
    *,
    whole: bool,
    sandboxes: str,
    policy: str | None,
    profiles: Sequence[str],
    domains: Sequence[str],
    jobs: int | None,
    timeout: str,
    artifacts: Path | None,
    require_all: bool,
    junit: Path | None,
    probes_dir: str | None,
    as_json: bool,
) -> int:
    from wardian.measure.probes import artifact, report
    from wardian.measure.probes.running import kept, measure
    from wardian.measure.probes.witnesses import witnesses

    timeout_s = bounded_duration("timeout", timeout, "20s")
    targets, expected = targets_of(sandboxes, policy, profiles, probes_dir)
    wanted = chosen(probes_dir, patterns, domains)
    for one in targets:
        if artifacts is not None:
            artifact.clear(str(artifacts), one.name, [each.id for each in wanted], others=whole)
        if one.degraded:
            output.say(f"{one.name} does not support: {', '.join(one.degraded)}")
    started = time.monotonic()
    progress = Progress("probe", len(wanted) * len(targets), bad="unexpected")
    on_done = counted(progress)
    if artifacts is not None:
        on_done = kept(str(artifacts), on_done)

    def kept_so_far() -> str:
        count = f"{progress.done} of {progress.total} specimens were measured"
        if artifacts is None:
            return f"{count}, no result was kept; keep them: --artifacts DIR"
        return f"{count}, their artifacts are in {artifacts}/; measure the rest by ID"

    with interruptible(kept_so_far), progress, witnesses() as env:
        found = measure(
            wanted, targets, env, profiles=expected, host_named=True, jobs=jobs,
            timeout_s=timeout_s, on_done=on_done,
        )  # fmt: skip
    if junit is not None:
        junit.write_text(report.junit(found, require_all=require_all), encoding="utf-8")
    seconds = time.monotonic() - started
    if as_json:
        output.print_json(report.document(found, seconds))
    else:
        _report(found, require_all=require_all, matrix=len(found) > 3)
    where = f", in {artifacts}/" if artifacts is not None else ""
    output.say(f"{report.summary(found)} in {seconds:.1f} s{where}")
    return 1 if any(report.unexpected(one, require_all=require_all) for one in found) else 0


def _report(found: Sequence[Artifact], *, require_all: bool, matrix: bool) -> None:
    from wardian.measure.probes import report

    for line in report.matrix(found) if matrix else map(report.one_line, found):
        output.print_text(line)
    if matrix:
        output.print_text(f"\n{report.LEGEND}")
    troubles = report.troubles(found, require_all=require_all)
    for line in ("", *troubles) if troubles else ():
        output.print_text(line)


def counted(progress: Progress) -> Callable[[Artifact], None]:
    """A callback that advances the progress line."""
    from wardian.measure.probes.report import unexpected

    return lambda artifact: progress.advance(bad=unexpected(artifact))


for _command in (
    probe_reading.diff,
    probe_reading.require,
    probe_reading.blame,
    probe_fuzz.fuzz,
):
    command.add_command(_command)
