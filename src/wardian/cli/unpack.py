"""``wardian unpack``: unpack a skill from an untrusted archive."""

from __future__ import annotations

from pathlib import Path

import click

from wardian.cli.paths import NamedPath


@click.command(
    "unpack",
    epilog="""\b
Examples:
  wardian unpack pdf.skill
  wardian unpack downloads/pdf.tar.gz ~/.agents/skills

\b
Exit code: 0 unpacked, 2 usage, 125 refused.""",
)
@click.argument("archive", type=NamedPath(exists=True, dir_okay=False, path_type=Path))
@click.argument("directory", default=".", type=NamedPath(file_okay=False, path_type=Path))
@click.option(
    "--lenient", is_flag=True, help="Accept a skill that loads but violates the specification."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(archive: Path, directory: Path, lenient: bool, as_json: bool) -> None:
    """Unpack the skill in ARCHIVE (.skill, zip, tar) as a folder in DIRECTORY.

    The archive is verified before anything is written. Existing files are never replaced, and a
    refused archive leaves nothing behind. DIRECTORY defaults to the current directory.
    """
    from wardian.skills.archive import unpack
    from wardian.text import printable

    target = unpack(archive, directory, lenient=lenient)
    if as_json:
        import json

        click.echo(json.dumps({"schema": "wardian.unpack/1", "path": str(target)}, indent=2))
    else:
        click.echo(printable(str(target)))
