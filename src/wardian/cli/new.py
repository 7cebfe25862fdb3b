"""``wardian new``: create a skill from a template, with a script, a case and security notes."""

from __future__ import annotations

from pathlib import Path

import click

from wardian.cli.paths import NamedPath


@click.command(
    "new",
    epilog="""\b
Examples:
  wardian new csv-clean
  wardian new csv-clean .agents/skills

\b
Exit code: 0 created, 2 usage, or the folder exists already.""",
)
@click.argument("name")
@click.argument("directory", default=".", type=NamedPath(file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(name: str, directory: Path, as_json: bool) -> None:
    """Create the skill NAME as a folder in DIRECTORY (default: the current directory).

    It passes `wardian check` and `wardian test`. Existing files are never changed.
    """
    from wardian.skills.template import make_skill
    from wardian.text import printable

    folder, files = make_skill(name, directory)
    if as_json:
        import json

        document = {"schema": "wardian.new/1", "path": str(folder), "files": list(files)}
        click.echo(json.dumps(document, indent=2))
        return
    for file in files:
        click.echo(printable(f"{folder}/{file}"))
    click.echo(f"try it: wardian test {printable(str(folder))}", err=True)
