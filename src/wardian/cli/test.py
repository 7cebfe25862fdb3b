"""``wardian test``: run a skill's test cases."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli.paths import NamedPath
from wardian.cli.policy_flags import given_flags, granted_policy, policy_flags
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from wardian.cli.options import Given
    from wardian.runner.cases.model import SkillCase
    from wardian.runner.cases.running import CaseOutcome, Options


@click.command(
    "test",
    epilog="""\b
Examples:
  wardian test skills/
  wardian test skills/csv-report --in wardian,host --oracle host --junit report.xml
  wardian test skills/weather --net host
  wardian test weather.skill

\b
Exit code: 0 all passed, 1 a case failed or requests more than is granted, 2 usage,
3 no case matches.""",
)
@click.argument("path", type=NamedPath(exists=True, path_type=Path))
@click.option(
    "--cases",
    "cases_file",
    type=NamedPath(exists=True, dir_okay=False, path_type=Path),
    help="The file of cases (default: cases.toml in each skill).",
)
@click.option("--case", "pattern", metavar="GLOB", help="Only cases whose name matches GLOB.")
@click.option(
    "--in",
    "backends",
    default="wardian",
    show_default=True,
    metavar="NAMES",
    help="Backends, comma-separated: wardian, bubblewrap, gvisor, host.",
)
@click.option("--oracle", metavar="NAME", help="Compare results with this backend.")
@click.option("--jobs", type=click.IntRange(1, 64), metavar="N",
              help="Parallel jobs (default: number of CPUs).")  # fmt: skip
@click.option("--no-deps", is_flag=True, help="Do not install dependencies.")
@click.option("--offline", is_flag=True, help="Use cached packages only.")
@click.option(
    "--build", is_flag=True, help="Allow build and install scripts of packages, in a sandbox."
)
@policy_flags
@click.option(
    "--junit", type=NamedPath(dir_okay=False, path_type=Path), help="Write JUnit XML to this file."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: Path,
    cases_file: Path | None,
    pattern: str | None,
    backends: str,
    oracle: str | None,
    jobs: int | None,
    no_deps: bool,
    offline: bool,
    build: bool,
    junit: Path | None,
    as_json: bool,
    **grants: Any,
) -> None:
    """Run the cases of the skill at PATH, or of every skill below it.

    PATH is a directory, or a .skill, .zip or tar file.

    Each case runs in its own sandbox with its own /work. With --oracle, the case also runs in
    another backend, and exit code, output and files must be equal.

    A case may tighten the policy set by these options, never widen it: a case that requests more
    than you grant is not run.
    """
    from contextlib import nullcontext

    from wardian.cli import output
    from wardian.runner.cases import report
    from wardian.runner.cases.running import Options
    from wardian.runner.location import located
    from wardian.sandbox.backends import check_backends, fitted, shortfall

    granted = granted_policy(grants)
    named = check_backends(backends)
    judge = check_backends(oracle)[0] if oracle is not None else None
    for name in dict.fromkeys((*named, *([judge] if judge is not None else []))):
        given_up = shortfall(name, granted)
        if given_up:
            output.say(f"{name} does not support: {', '.join(given_up)}")
    progress = Progress("test", unit=" cases", bad="not passed")
    options = Options(
        backends=named,
        oracle=judge,
        policy=granted,
        at_best=fitted,
        no_deps=no_deps,
        offline=offline,
        build=build,
        say=progress,
    )
    with located(str(path)) if path.is_file() else nullcontext() as skill:
        place = Path(skill.path) if skill is not None else path
        selected = _selected(place, cases_file, pattern, named=path)
        progress.plan(len(selected))
        with (
            interruptible(
                lambda: (
                    f"{progress.done} of {progress.total} cases were done, no outcome was kept;"
                    " run fewer: --case GLOB"
                )
            ),
            progress,
        ):
            outcomes = _outcomes(selected, options, jobs, progress)
    if junit is not None:
        junit.write_text(report.junit(outcomes), encoding="utf-8")
    if as_json:
        output.print_json(report.document(outcomes))
    else:
        flags = {"no-deps": no_deps, "offline": offline, "build": build}
        given = given_flags(grants) | {name: [""] for name, is_given in flags.items() if is_given}
        _print_again(
            given,
            selected if skill is None else [(path, c) for _, c in selected],
            outcomes,
            cases_file,
        )
        for line in report.table(outcomes):
            output.print_text(line)
        output.say(report.summary(outcomes))
    ctx.exit(1 if any(one.verdict in ("fail", "error") for one in outcomes) else 0)


def _print_again(
    given: Given,
    selected: list[tuple[Path, SkillCase]],
    outcomes: list[CaseOutcome],
    cases_file: Path | None,
) -> None:
    """Print the command that widens the learned policy after failed cases."""
    if "policy" not in given:
        return
    from wardian.cli.again import learn_cases_again, print_again

    failed = {
        one.case.name
        for one in outcomes
        if one.verdict in ("fail", "error") and one.backend == "wardian"
    }
    for place in dict.fromkeys(place for place, case in selected if case.name in failed):
        known = [case for one, case in selected if one == place]
        names = [case.name for case in known if case.name in failed]
        # A name with glob characters cannot be used as a pattern.
        plain = len(names) == 1 and len(known) > 1 and not set("*?[") & set(names[0])
        cases = str(cases_file) if cases_file is not None else None
        words = learn_cases_again(given, str(place), cases, names[0] if plain else None)
        print_again(words, "these cases" if len(names) > 1 else "this case")


def _selected(
    path: Path, cases_file: Path | None, pattern: str | None, *, named: Path
) -> list[tuple[Path, SkillCase]]:
    """The cases with the skill of each. Raises NothingMatched."""
    from fnmatch import fnmatchcase

    from wardian.errors import NothingMatched
    from wardian.runner.cases.reading import DEFAULT_FILE, read_cases

    found: list[tuple[Path, SkillCase]] = []
    if cases_file is not None:
        for case in read_cases(str(cases_file)):
            found.append((_skill_of(case, path, cases_file), case))
    else:
        for skill in _skills(path):
            beside = skill / DEFAULT_FILE
            if os.path.lexists(beside):
                found += [(skill, case) for case in read_cases(str(beside))]
    chosen = [one for one in found if pattern is None or fnmatchcase(one[1].name, pattern)]
    if not chosen:
        raise NothingMatched(
            f"no case for {named}" + (f" matches {pattern!r}" if found else ""),
            hint=f"cases are in {DEFAULT_FILE} in a skill, or in the file of --cases",
        )
    return chosen


def _skill_of(case: SkillCase, path: Path, cases_file: Path) -> Path:
    """The skill of a case from the file of --cases: at PATH or below it."""
    from wardian.errors import InputError

    if case.skill is None:
        return path
    skill = path / case.skill
    if not skill.resolve().is_relative_to(path.resolve()):
        message = f"case {case.name!r}: `skill` must lie below {path}"
        raise InputError(message, path=str(cases_file))
    return skill


def _skills(path: Path) -> list[Path]:
    from wardian.skills.folders import find_skills

    return find_skills(path)


def _outcomes(
    selected: list[tuple[Path, SkillCase]],
    options: Options,
    jobs: int | None,
    progress: Progress,
) -> list[CaseOutcome]:
    from wardian.runner.cases.running import run_case
    from wardian.runner.location import located
    from wardian.sandbox.run.interrupting import run_pool

    def run(one: tuple[Path, SkillCase]) -> list[CaseOutcome]:
        with located(str(one[0])) as skill:
            outcomes = run_case(skill, one[1], options)
        bad = any(outcome.verdict in ("fail", "error") for outcome in outcomes)
        progress.advance(bad=bad, note=one[1].name)
        return outcomes

    with run_pool(jobs) as workers:
        return [outcome for outcomes in workers.map(run, selected) for outcome in outcomes]
