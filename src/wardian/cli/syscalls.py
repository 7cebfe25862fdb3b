"""``wardian syscalls``: the policy decision and measured support for each system call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wardian.cli import output, syscalls_coverage
from wardian.cli.history import store_option
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option, probes_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.measure.probes.artifact import Artifact
    from wardian.measure.probes.specimen import Specimen
    from wardian.measure.syscalls.matrix import CallLine
    from wardian.syscalls.table import Row

DECISIONS = ("allow", "when", "deny", "absent")


@click.group(
    "syscalls",
    epilog="""\b
Examples:
  wardian syscalls show openat
  wardian syscalls coverage --in wardian,host""",
)
def command() -> None:
    """Show the policy decision and measured support for each system call."""


@command.command(
    "table",
    epilog="""\b
Examples:
  wardian syscalls table --group network
  wardian syscalls table --priority critical --priority high --json

\b
Exit code: 0 success, 2 usage, 3 nothing matches.""",
)
@click.option("--group", "groups", multiple=True, help="Only calls of this group. Repeatable.")
@click.option(
    "--priority",
    "priorities",
    multiple=True,
    type=click.Choice(("critical", "high", "medium", "low")),
    help="Only calls of this priority. Repeatable.",
)
@click.option(
    "--decision",
    "decisions",
    multiple=True,
    type=click.Choice(DECISIONS),
    help="Only calls with this decision; `when` depends on arguments. Repeatable.",
)
@click.option(
    "--arch",
    type=click.Choice(("x86_64", "arm64", "aarch64")),
    help="The architecture (default: this machine's).",
)
@json_option
def table(
    groups: tuple[str, ...],
    priorities: tuple[str, ...],
    decisions: tuple[str, ...],
    arch: str | None,
    as_json: bool,
) -> None:
    """List system calls: number, group, priority, decision, reason."""
    from wardian.errors import NothingMatched
    from wardian.measure.syscalls import report
    from wardian.syscalls.knowledge import known
    from wardian.syscalls.table import canonical_arch, rows
    from wardian.syscalls.table import groups as known_groups

    machine = canonical_arch(arch or os.uname().machine)
    for group in groups:
        if group not in known_groups():
            names = ", ".join(known_groups())
            raise NothingMatched(f"unknown group {group!r}", hint=f"groups: {names}")
    found = [
        (row, known()[row.name])
        for row in rows()
        if (not groups or row.group in groups)
        and (not priorities or known()[row.name].priority in priorities)
        and (not decisions or row.kind in decisions)
        and row.number(machine) is not None
    ]
    if not found:
        raise NothingMatched("no system call matches")
    if as_json:
        entries = [report.entry(*one) for one in found]
        output.print_json({"schema": report.TABLE_SCHEMA, "arch": machine, "syscalls": entries})
        return
    for line in report.table_lines(found, machine):
        output.print_text(line)
    output.say(f"{len(found)} system calls of {machine}")


@command.command(
    "show",
    epilog="""\b
Examples:
  wardian syscalls show mount
  wardian syscalls show wait4 --from artifacts --json

\b
Results are the newest in the store, as `wardian nightly` measured them.
Exit code: 0 success, 2 usage, 3 no such call, 125 not artifacts.""",
)
@click.argument("name")
@click.option(
    "--from",
    "source",
    type=NamedPath(exists=True, file_okay=False, path_type=Path),
    help="Read results from these artifacts, not from the store.",
)
@store_option
@probes_option
@json_option
def show(
    name: str, source: Path | None, store_path: str | None, probes_dir: str | None, as_json: bool
) -> None:
    """Show one system call in full: decision, reason, users, tests, results."""
    from wardian.measure.syscalls import report
    from wardian.syscalls.knowledge import know

    row = _row(name)
    line = _results(row, source, store_path)
    one = report.One(row, know(row.name), _probes(row, probes_dir), _skills(row), line)
    if as_json:
        output.print_json(report.show_document(one))
        return
    for text in report.show_lines(one):
        output.print_text(text)


def _row(name: str) -> Row:
    from wardian.errors import NothingMatched, PolicyError
    from wardian.syscalls.table import lookup

    try:
        return lookup(name)
    except PolicyError as error:
        raise NothingMatched(str(error), hint=error.hint) from None


def _probes(row: Row, probes_dir: str | None) -> list[Specimen]:
    from wardian.measure.probes import specimen
    from wardian.measure.syscalls.cells import CAPABILITY

    found = specimen.find_specimens(specimen.probes_dir(probes_dir))
    return [one for one in found if one.capability == f"{CAPABILITY}{row.name}"]


def _skills(row: Row) -> list[str]:
    """Traced skills that make this call."""
    from wardian.measure.syscalls.usage import skill_folders, skill_use, skills_dir

    uses = [skill_use(folder, "known") for folder in skill_folders(skills_dir())]
    return [use.name for use in uses if row.name in use.calls]


def _results(row: Row, source: Path | None, store_path: str | None) -> CallLine | None:
    """Results from artifacts, or else from the store that `wardian nightly` writes to.
    Raises InputError if what was named can't be used."""
    from wardian.measure.probes import artifact
    from wardian.measure.syscalls.cells import CAPABILITY
    from wardian.measure.syscalls.matrix import build

    capability = f"{CAPABILITY}{row.name}"
    if source is not None:
        every: Sequence[Artifact] = artifact.read_all(str(source))
    else:
        every = _stored(capability, store_path)
    found = [one for one in every if one.capability == capability]
    if not found:
        return None
    lines = build(found, found[0].machine).lines
    return next((line for line in lines if line.name == row.name), None)


def _stored(capability: str, path: str | None) -> Sequence[Artifact]:
    """Nothing where there is no store and none was named."""
    from wardian.measure.pages.facts import newest_artifacts
    from wardian.measure.store.store import Store, default_path

    if path is None and not os.path.exists(default_path()):
        return ()
    with Store.open(path, create=False) as store:
        return newest_artifacts(store, capability)


for _command in (syscalls_coverage.coverage, syscalls_coverage.docs):
    command.add_command(_command)
