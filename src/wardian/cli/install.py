"""``wardian install``: copy skills into the folders where agents look for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wardian.cli.paths import NamedPath
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from wardian.runner.installs import InstallRecord

CLIENTS = ("agents", "claude", "codex", "gemini", "cursor")


@click.command(
    "install",
    epilog="""\b
Examples:
  wardian install pdf.skill
  wardian install ~/src/skills pdf docx --to claude --project
  wardian install --list
  wardian install --remove pdf

\b
Exit code: 0 installed, 1 a skill has errors, 2 usage, 3 no such skill, 125 refused.""",
)
@click.argument("source", required=False, type=NamedPath(exists=True, path_type=Path))
@click.argument("names", nargs=-1)
@click.option(
    "--to",
    "client",
    type=click.Choice(CLIENTS),
    default="agents",
    show_default=True,
    help="Which agent's folder.",
)
@click.option(
    "--project", "scope", flag_value="project", help="Install below the current directory."
)
@click.option(
    "--user",
    "scope",
    flag_value="user",
    default="user",
    help="Install below the home directory (default).",
)
@click.option(
    "--force", is_flag=True, help="Replace an installed skill; install a skill with errors."
)
@click.option("--dry-run", is_flag=True, help="Check and print; write nothing.")
@click.option(
    "--list", "listed", is_flag=True, help="List installed skills, and which have changed."
)
@click.option("--remove", metavar="NAME", help="Remove an installed skill.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    source: Path | None,
    names: tuple[str, ...],
    client: str,
    scope: str,
    force: bool,
    dry_run: bool,
    listed: bool,
    remove: str | None,
    as_json: bool,
) -> None:
    """Copy skills from SOURCE into a folder where agents look for them.

    SOURCE is a skill's folder, a .skill, .zip or tar file, or a git checkout on disk. NAMES selects
    skills from it; a plugin's name selects all of its skills. Skills are checked, never executed.
    Their digests are recorded, so that `wardian list` and `wardian show` report later changes. A
    failed install leaves nothing behind.
    """
    from wardian.errors import UsageError
    from wardian.runner.installs import all_records

    root = os.path.join("." if scope == "project" else "~", f".{client}", "skills")
    if listed or remove is not None:
        if source is not None or (listed and remove is not None):
            raise UsageError("--list and --remove take no SOURCE and cannot be combined")
        _print(all_records() if listed else [_removed(str(remove), force)], as_json)
        return
    if source is None:
        raise UsageError("no SOURCE given", hint="usage: wardian install SOURCE [NAME…]")
    from wardian.skills.skill import opened

    with opened(source) as place:
        records = _installed(place.path, source, names, root, force=force, dry_run=dry_run)
    if records is None:
        ctx.exit(1)
    _print(records, as_json)


def _installed(
    place: Path, source: Path, names: tuple[str, ...], root: str, *, force: bool, dry_run: bool
) -> list[InstallRecord] | None:
    """Check all skills, then copy them; None if one has errors."""
    from wardian.runner.installing import check_target_folder, install, planned
    from wardian.runner.sources import chosen_skills

    folders = chosen_skills(place, names)
    if not force and _has_errors(folders, place, source):
        return None
    targets = [check_target_folder(root, name, force=force) for name, _ in folders]
    shown = str(source.resolve())
    act = planned if dry_run else install
    records: list[InstallRecord] = []
    progress = Progress("install", len(folders), unit=" skills")
    kept = "{} of {} skills were installed whole; see: wardian install --list"
    with interruptible(lambda: kept.format(progress.done, progress.total)), progress:
        for (_, folder), target in zip(folders, targets, strict=True):
            records.append(act(folder, target, shown))
            progress.advance()
    return records


def _has_errors(folders: list[tuple[str, Path]], place: Path, source: Path) -> bool:
    """Print the errors, with paths relative to SOURCE as given."""
    from wardian.skills.checking import check
    from wardian.skills.diagnostic import described

    wrong = [one for _, folder in folders for one in check(folder) if one.severity == "error"]
    for one in wrong:
        click.echo(described(one).replace(str(place), str(source)), err=True)
    if wrong:
        click.echo("not installed: the skill has errors (--force installs it anyway)", err=True)
    return bool(wrong)


def _removed(name: str, force: bool) -> InstallRecord:
    from wardian.errors import NothingMatched, UsageError
    from wardian.runner.installing import uninstall
    from wardian.runner.installs import all_records

    found = [one for one in all_records() if name in (one.name, one.path)]
    if not found:
        raise NothingMatched(
            f"{name} is not installed", hint="list installed skills: wardian install --list"
        )
    if len(found) > 1:
        paths = ", ".join(one.path for one in found)
        raise UsageError(f"{name} is installed more than once", hint=f"name one by path: {paths}")
    (record,) = found
    if os.path.lexists(record.path) and record.changed and not force:
        raise UsageError(
            f"{record.path} has changed since it was installed", hint="remove it anyway: --force"
        )
    uninstall(record)
    return record


def _print(records: list[InstallRecord], as_json: bool) -> None:
    from wardian.text import printable

    if as_json:
        import json

        entries = [one._asdict() | {"changed": one.changed} for one in records]
        click.echo(json.dumps({"schema": "wardian.install/1", "skills": entries}, indent=2))
        return
    for one in records:
        click.echo(printable(one.path))
