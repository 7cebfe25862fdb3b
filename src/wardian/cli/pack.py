"""``wardian pack``: pack a skill as a .skill file, or as a root file system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli.paths import NamedPath
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from wardian.runner.rootfs_packing import PackedRootfs
    from wardian.skills import Packed


@click.command(
    "pack",
    epilog="""\b
Examples:
  wardian pack skills/pdf
  wardian pack skills/pdf -o dist/pdf.skill
  wardian pack --rootfs skills/csv-report

\b
Exit code: 0 packed, 1 the skill has errors, 2 usage.""",
)
@click.argument("directory", type=NamedPath(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=NamedPath(dir_okay=False, path_type=Path),
    help="The file to write (default: NAME.skill or NAME.rootfs.tar).",
)
@click.option(
    "--rootfs",
    is_flag=True,
    help="Pack a tar with its interpreters and libraries, for `exec --rootfs`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
@click.pass_context
def command(
    ctx: click.Context, directory: Path, output: Path | None, rootfs: bool, as_json: bool
) -> None:
    """Check the skill in DIRECTORY and pack it reproducibly.

    Caches, version control, installed packages and evals/ are left out.
    """
    from wardian.skills.archive import pack
    from wardian.skills.checking import check
    from wardian.skills.diagnostic import described

    found = [one for one in check(directory) if one.severity != "info"]
    for one in found:
        click.echo(described(one), err=True)
    if any(one.severity == "error" for one in found):
        click.echo("not packed: the skill has errors", err=True)
        ctx.exit(1)
    if rootfs:
        _pack_rootfs(directory, output, as_json=as_json)
        return
    with interruptible("nothing was written; run it again"), Progress("pack"):
        packed = pack(directory, output)
    _report(packed, "wardian.pack/1", {}, f"{len(packed.files)} files", as_json=as_json)


def _pack_rootfs(directory: Path, output: Path | None, *, as_json: bool) -> None:
    from wardian.runner.rootfs_packing import pack_rootfs

    with interruptible("nothing was written; run it again"), Progress("pack") as progress:
        packed = pack_rootfs(directory, output, say=progress)
    more = {"interpreters": list(packed.interpreters), "missing": list(packed.missing)}
    what = f"{len(packed.files):,} files"
    with_what = f", with {', '.join(packed.interpreters)}"
    _report(packed, "wardian.pack-rootfs/1", more, what, with_what, as_json=as_json)


def _report(
    packed: Packed | PackedRootfs,
    schema: str,
    more: dict[str, Any],
    what: str,
    with_what: str = "",
    *,
    as_json: bool,
) -> None:
    from wardian.text import printable

    if packed.left_out:
        click.echo(f"left out: {printable(', '.join(packed.left_out))}", err=True)
    for one in more.get("missing", ()):
        click.echo(f"not included: {printable(one)}", err=True)
    if as_json:
        import json

        document = {
            "schema": schema,
            "path": str(packed.path),
            "bytes": packed.size,
            "sha256": packed.sha256,
            **more,
            "files": list(packed.files),
            "left_out": list(packed.left_out),
        }
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(printable(str(packed.path)))
        click.echo(f"{what}, {packed.size:,} bytes{with_what}", err=True)
