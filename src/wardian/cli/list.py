"""``wardian list``: the skills that agents find from a directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli.paths import NamedPath

if TYPE_CHECKING:
    from wardian.skills.discovery import Found


@click.command(
    "list",
    epilog="""\b
Examples:
  wardian list
  wardian list --json ~/src/project

\b
Exit code: 0 skills found, 2 usage, 3 none found.""",
)
@click.argument(
    "project", default=".", type=NamedPath(exists=True, file_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(project: Path, as_json: bool) -> None:
    """List the skills that agents find from PROJECT (default: the current directory).

    Searches .agents, .claude, .codex, .gemini and .cursor, from PROJECT up to the top of its
    repository, then in the home directory; earlier skills shadow later ones of the same name. In a
    repository of skills, its plugins' skills and all others in it are listed too.
    """
    from wardian.errors import NothingMatched
    from wardian.skills.discovery import ROOTS, discover

    found = discover(project)
    if as_json:
        import json

        document = {"schema": "wardian.list/1", "skills": [_entry(one) for one in found]}
        click.echo(json.dumps(document, indent=2))
    else:
        for line in _lines(found):
            click.echo(line)
    if not found:
        raise NothingMatched("no skills found", hint=f"searched in {', '.join(ROOTS)}")


def _entry(one: Found) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.skill.description if one.skill is not None else None,
        "path": str(one.path),
        "root": str(one.root),
        "scope": one.scope,
        "client": one.client,
        "loads": one.skill is not None,
        "problem": one.problem,
        "shadowed_by": str(one.shadowed_by) if one.shadowed_by is not None else None,
        "plugin": one.plugin,
        "installed": _installed(one),
        "diagnostics": [item.code for item in one.diagnostics],
    }


def _installed(one: Found) -> dict[str, Any] | None:
    """The install record of this skill, if any, and whether the skill has changed since."""
    import os

    from wardian.runner.installs import record_of

    record = record_of(os.path.realpath(one.path))
    return record._asdict() | {"changed": record.changed} if record is not None else None


def _lines(found: list[Found]) -> list[str]:
    from wardian.text import printable

    names = [printable(one.name) for one in found]
    width = min(max(map(len, names), default=0), 40)
    lines = []
    for name, one in zip(names, found, strict=True):
        line = f"{name:<{width}}  {one.scope:<7}  {one.client:<6}  {printable(str(one.path))}"
        if one.problem is not None:
            line += f"\n    does not load: {printable(one.problem)}"
        elif one.shadowed_by is not None:
            line += f"\n    shadowed by {printable(str(one.shadowed_by))}"
        if (record := _installed(one)) is not None and record["changed"]:
            line += f"\n    changed since it was installed on {record['time']}"
        lines.append(line)
    return lines
