"""``wardian check``: validate skills against the specification, and lint them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli.paths import NamedPath

if TYPE_CHECKING:
    from wardian.skills.diagnostic import Diagnostic

_MAX_DIRECTORIES = 100_000


@click.command(
    "check",
    epilog="""\b
Examples:
  wardian check skills/
  wardian check --sarif pdf.skill > check.sarif

\b
Exit code: 0 valid, 1 findings, 2 usage, 3 no skill found.""",
)
@click.argument("paths", nargs=-1, type=NamedPath(exists=True, path_type=Path))
@click.option("--strict", is_flag=True, help="Treat warnings as findings.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option("--sarif", "as_sarif", is_flag=True, help="One SARIF 2.1.0 document on stdout.")
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[Path, ...], strict: bool, as_json: bool, as_sarif: bool
) -> None:
    """Validate skills against the specification and report common mistakes.

    PATHS are skills, .skill files, or folders of skills (default: the current directory).
    """
    from wardian.errors import NothingMatched, UsageError
    from wardian.runner.wishes import findings
    from wardian.skills.checking import check

    if as_json and as_sarif:
        raise UsageError("--json and --sarif cannot be combined")
    skills = list(dict.fromkeys(_skills(paths or (Path(),))))
    if not skills:
        raise NothingMatched(
            "no skill found", hint="a skill is a folder with a SKILL.md, or a .skill file"
        )
    results = [(path, [*check(path), *findings(path)]) for path in skills]
    found = [one for _, diagnostics in results for one in diagnostics]
    if as_sarif:
        from wardian import __version__
        from wardian.skills.sarif import sarif

        _print_json(sarif(found, __version__))
    elif as_json:
        _print_json(_document(results))
    else:
        _print_lines(found, len(skills))
    grave = ("error", "warning") if strict else ("error",)
    ctx.exit(1 if any(one.severity in grave for one in found) else 0)


def _skills(paths: tuple[Path, ...]) -> Iterator[Path]:
    from wardian.skills.folders import find_skills

    for path in paths:
        if path.is_dir():
            yield from find_skills(path, max_directories=_MAX_DIRECTORIES)
            yield from sorted(one for one in path.glob("*.skill") if one.is_file())
        else:
            yield path


def _document(results: list[tuple[Path, list[Diagnostic]]]) -> dict[str, Any]:
    from dataclasses import asdict

    found = [one for _, diagnostics in results for one in diagnostics]
    return {
        "schema": "wardian.check/1",
        "skills": [
            {
                "path": str(path),
                "valid": all(one.severity != "error" for one in diagnostics),
                "diagnostics": [asdict(one) for one in diagnostics],
            }
            for path, diagnostics in results
        ],
        "summary": {"skills": len(results), **_counts(found)},
    }


def _counts(found: list[Diagnostic]) -> dict[str, int]:
    severities = [one.severity for one in found]
    return {
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "infos": severities.count("info"),
    }


def _print_json(document: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(document, indent=2))


def _print_lines(found: list[Diagnostic], skills: int) -> None:
    from wardian.skills.diagnostic import described

    for one in found:
        click.echo(described(one))
    counts = _counts(found)
    listed = ", ".join(
        f"{number} {name if number != 1 else name[:-1]}" for name, number in counts.items()
    )
    click.echo(f"{skills} skill{'s' if skills != 1 else ''} checked: {listed}", err=True)
