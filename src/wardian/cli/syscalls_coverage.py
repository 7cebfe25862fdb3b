"""``wardian syscalls coverage | docs``: measure system calls, and write the reference pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option, policy_option, probes_option
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wardian.measure.probes.artifact import Artifact
    from wardian.measure.syscalls.matrix import Matrix
    from wardian.measure.syscalls.usage import CallUse, How

DEFAULT_IN = "wardian,host"
_directory = NamedPath(exists=True, file_okay=False, path_type=Path)

_from_option = click.option(
    "--from", "source", type=_directory, help="Use these artifacts (default: measure now)."
)
_in_option = click.option(
    "--in",
    "sandboxes",
    metavar="NAMES",
    help="Sandboxes, comma-separated: wardian, bubblewrap, gvisor, host "
    f"(default: {DEFAULT_IN}, or all in --from).",
)
_skills_option = click.option(
    "--skills",
    type=NamedPath(),
    metavar="DIR",
    help="Trace the cases of these skills (default: those of wardian's repository).",
)
_jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Parallel jobs (default: number of CPUs).",
)


@click.command(
    "coverage",
    epilog="""\b
Examples:
  wardian syscalls coverage
  wardian syscalls coverage --in wardian,bubblewrap,gvisor,host --artifacts out --json

\b
Exit code: 0 success, 1 differences from the host that policy does not explain, 2 usage,
3 nothing measured, 125 not artifacts.""",
)
@_in_option
@_from_option
@click.option(
    "--artifacts",
    type=NamedPath(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the artifacts to DIR/SANDBOX/ID.json.",
)
@policy_option
@probes_option
@_skills_option
@click.option("--no-use", is_flag=True, help="Do not trace programs and skills.")
@click.option("--retrace", is_flag=True, help="Trace programs again; do not reuse earlier traces.")
@_jobs_option
@json_option
@quiet_option
@click.pass_context
def coverage(
    ctx: click.Context,
    sandboxes: str | None,
    source: Path | None,
    artifacts: Path | None,
    policy: str | None,
    probes_dir: str | None,
    skills: str | None,
    no_use: bool,
    retrace: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Measure which system calls a sandbox supports, and which ones programs need.

    Probes check each call's effects and errors in each sandbox. A call is supported if all checks
    pass, partial if some do, denied if it is refused, missing if it is not implemented. Then
    interpreters, common tools and skills are traced, to count their supported calls.
    """
    from wardian.errors import UsageError
    from wardian.measure.syscalls import report

    if source is not None and (artifacts is not None or policy is not None):
        raise UsageError(
            "--from cannot be combined with --artifacts or --policy: nothing is measured"
        )
    found, matrix = gathered(sandboxes, source, artifacts, policy, probes_dir, jobs)
    uses = [] if no_use else used(skills, jobs, "again" if retrace else "usual")
    if as_json:
        output.print_json(report.document(matrix, found, uses))
    else:
        _report(matrix, uses)
    output.say(report.summary(matrix))
    ctx.exit(1 if matrix.unexplained else 0)


def _report(matrix: Matrix, uses: Sequence[CallUse]) -> None:
    from wardian.measure.syscalls import report

    parts = [
        [*report.matrix_lines(matrix), "", report.LEGEND],
        report.counts_lines(matrix),
        report.use_lines(uses, matrix) if uses else [],
        report.note_lines(matrix),
        report.difference_lines(matrix.unexplained),
    ]
    for number, lines in enumerate(part for part in parts if part):
        for line in ("", *lines) if number else lines:
            output.print_text(line)


@click.command(
    "docs",
    epilog="""\b
Examples:
  wardian syscalls docs -o docs/reference
  wardian syscalls docs --check -o docs/reference

\b
Exit code: 0 written, or up to date; 1 --check found a stale page; 2 usage.""",
)
@click.option(
    "-o",
    "--output",
    "place",
    type=NamedPath(file_okay=False, path_type=Path),
    default=Path("docs/reference"),
    show_default=True,
    help="Write the pages to this directory.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; check that the reference page is up to date."
)
@click.option("--no-analysis", is_flag=True, help="Write only the reference page; measure nothing.")
@_in_option
@_from_option
@policy_option
@probes_option
@_skills_option
@_jobs_option
@json_option
@quiet_option
@click.pass_context
def docs(
    ctx: click.Context,
    place: Path,
    check: bool,
    no_analysis: bool,
    sandboxes: str | None,
    source: Path | None,
    policy: str | None,
    probes_dir: str | None,
    skills: str | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Write the reference pages syscalls.md and GVISOR_SYSCALL_ANALYSIS.md.

    The first describes each call and is the same on every machine. The second analyses
    measurements: matrix, gaps, recommendations, gVisor's tests.
    """
    from wardian.measure.pages.documents import syscalls as pages

    reference = place / pages.REFERENCE
    texts = {reference: pages.reference()}
    if check:
        stale = [path for path, text in texts.items() if _content(path) != text]
        if as_json:
            output.print_json(
                {"schema": pages.SCHEMA, "written": [], "stale": [str(path) for path in stale]}
            )
        for path in stale:
            output.say(f"{path} is not up to date: wardian syscalls docs --no-analysis -o {place}")
        ctx.exit(1 if stale else 0)
    if not no_analysis:
        found, matrix = gathered(sandboxes, source, None, policy, probes_dir, jobs)
        uses = used(skills, jobs)
        texts[place / pages.ANALYSIS] = pages.analysis(matrix, found, uses)
    place.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        _write(path, text)
    if as_json:
        output.print_json(
            {"schema": pages.SCHEMA, "written": [str(path) for path in texts], "stale": []}
        )
    for path in texts:
        output.say(f"wrote {path}")


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    """Write the file atomically."""
    import os

    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# Shared by both


def gathered(
    sandboxes: str | None,
    source: Path | None,
    kept_in: Path | None,
    policy: str | None,
    probes_dir: str | None,
    jobs: int | None,
) -> tuple[list[Artifact], Matrix]:
    """The measurements, read or made now, and their matrix. Raises WardianError."""
    from wardian.cli.options import base_policy
    from wardian.errors import NothingMatched
    from wardian.measure.syscalls import measuring
    from wardian.measure.syscalls.matrix import build
    from wardian.measure.target import check_targets

    wanted = check_targets(sandboxes) if sandboxes is not None else ()
    decided = measuring.decisions(base_policy(policy))
    if source is not None:
        found = measuring.read(str(source))
    else:
        found = _measured(sandboxes, policy, probes_dir, decided, kept_in, jobs)
    matrix = build(found, found[0].machine, wanted, decided)
    for name in wanted:
        if name not in matrix.sandboxes:
            output.say(f"no measurements in {name}")
    for name in matrix.sandboxes:
        ones = [one for one in found if one.sandbox == name]
        if all(one.status == "not_run" for one in ones):
            output.say(f"nothing could be measured in {name}: {ones[0].cause}")
    if not any(line.cells for line in matrix.lines):
        raise NothingMatched("nothing measured")
    return found, matrix


def _measured(
    sandboxes: str | None,
    policy: str | None,
    probes_dir: str | None,
    decided: Mapping[str, str],
    kept_in: Path | None,
    jobs: int | None,
) -> list[Artifact]:
    from wardian.cli.probe import counted, targets_of
    from wardian.cli.progress import Progress, interruptible
    from wardian.measure.syscalls import measuring

    wanted = measuring.specimens_of_calls(probes_dir)
    names = sandboxes or DEFAULT_IN
    targets, expected = targets_of(names, policy, (), probes_dir)
    for one in targets:
        if one.degraded:
            output.say(f"{one.name} does not support: {', '.join(one.degraded)}")
    progress = Progress("syscalls", len(wanted) * len(targets), bad="unexpected")

    def again(count: int) -> None:
        progress.more(count)
        progress.say(f"repeating {count} measurements that differ from the host")

    def kept_so_far() -> str:
        if kept_in is None:
            return "no measurement was kept; keep them: --artifacts DIR"
        return f"{progress.done} of {progress.total} measurements are in {kept_in}/"

    with interruptible(kept_so_far), progress:
        return measuring.measured(
            wanted, targets, expected, decided, host_named=sandboxes is not None, jobs=jobs,
            kept_in=str(kept_in) if kept_in else None, on_done=counted(progress), on_again=again,
        )  # fmt: skip


def used(skills: str | None, jobs: int | None, how: How = "usual") -> list[CallUse]:
    """The calls that programs and skills make. Raises InputError if ``skills`` is no directory."""
    from wardian.cli.progress import Progress, interruptible
    from wardian.measure.syscalls.usage import measure_use, programs, skill_folders, skills_dir

    folders = skill_folders(skills_dir(skills))
    progress = Progress("tracing programs", len(programs()) + len(folders), bad="failed")

    def step(use: CallUse) -> None:
        progress.advance(bad=bool(use.problem) and not use.skipped)

    with interruptible("traces that were finished are in the cache; run it again"), progress:
        return measure_use(folders, jobs=jobs, how=how, on_done=step)
