"""``wardian history``: campaigns and timelines in the store; export, prune, merge."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option

LIST_SCHEMA = "wardian.campaigns/1"
CHANGED_SCHEMA = "wardian.history-change/1"
store_option = click.option(
    "--store",
    "store_path",
    type=NamedPath(),
    metavar="PATH",
    help="The store (default: your own).",
)


class History(click.Group):
    """A first word that is no subcommand is a name for ``show``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["show", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "history",
    cls=History,
    invoke_without_command=True,
    epilog="""\b
Examples:
  wardian history
  wardian history network_loopback --in wardian

\b
NAME is a case, a capability or a figure; * and ? match anything.""",
)
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, store_path: str | None, as_json: bool) -> None:
    """Show how measurements changed over time: since when, and what changed between."""
    given = {"store_path": store_path, "as_json": as_json}
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_campaigns, **given)
    ctx.default_map = {name: {k: v for k, v in given.items() if v} for name in command.commands}


@command.command(
    "list",
    epilog="""\b
Examples:
  wardian history list --last 7
  wardian history list --json

\b
Exit code: 0 success, 2 usage, 3 no campaigns.""",
)
@click.option(
    "--last", type=click.IntRange(1), default=20, show_default=True, help="List this many."
)
@store_option
@json_option
def list_campaigns(last: int = 20, store_path: str | None = None, as_json: bool = False) -> None:
    """List the campaigns, oldest first."""
    from wardian.errors import NothingMatched
    from wardian.measure.store.model import fields
    from wardian.measure.store.store import Store

    with Store.open(store_path, create=False) as store:
        campaigns = store.campaigns(limit=last)
        if not campaigns:
            raise NothingMatched(f"{store.path}: no campaigns", hint="run one: wardian nightly")
        rows = []
        for one in campaigns:
            results = store.results(one.id)
            bad = sum(result.health in ("bad", "broken") for result in results)
            rows.append((one, len(results), bad, len(store.findings(one.id))))
    if as_json:
        listed = []
        for one, count, bad, found in rows:
            listed.append(fields(one) | {"results": count, "bad": bad, "findings": found})
        output.print_json({"schema": LIST_SCHEMA, "campaigns": listed})
        return
    for one, count, bad, found in rows:
        shard = f" shard {one.shard}" if one.shard else ""
        output.print_text(
            f"{one.night}  {one.uid[:8]}  {one.state:<11}  {count} results, {bad} bad, "
            f"{found} findings  Linux {one.kernel}  wardian {one.wardian}{shard}"
        )


@command.command(
    "show",
    epilog="""\b
Examples:
  wardian history show 'core__network__*' --in wardian,bubblewrap
  wardian history show --flipped --json

\b
Exit code: 0 success, 2 usage, 3 nothing matches.""",
)
@click.argument("patterns", nargs=-1, metavar="[NAME]...")
@click.option("--in", "sandboxes", metavar="NAMES", help="Only these sandboxes, comma-separated.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    help="Only this kind: probe, check, suite, skill, trace or figure. Repeatable.",
)
@click.option("--flipped", is_flag=True, help="Only cases whose outcome changed.")
@store_option
@json_option
def show(
    patterns: tuple[str, ...],
    sandboxes: str | None,
    kinds: tuple[str, ...],
    flipped: bool,
    store_path: str | None,
    as_json: bool,
) -> None:
    """Show timelines of cases, capabilities and figures."""
    from wardian.measure.history import selecting
    from wardian.measure.store.store import Store

    names = sandboxes.split(",") if sandboxes else []
    with Store.open(store_path, create=False) as store:
        found = selecting.lines(store, patterns, sandboxes=names, kinds=kinds, flipped=flipped)
    if as_json:
        output.print_json(selecting.document(found))
        return
    for line in selecting.text(found):
        output.print_text(line)


@command.command(
    "export",
    epilog="""\b
Examples:
  wardian history export -o history.jsonl
  wardian history export --format csv --table figures -o figures.csv

\b
Exit code: 0 success, 2 usage, 125 the store cannot be read.""",
)
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl",
              show_default=True, help="The format.")  # fmt: skip
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(["campaigns", "results", "figures", "findings"]),
    help="Export this table (default: all with jsonl, results with csv). Repeatable.",
)
@click.option("--evidence", is_flag=True, help="Include evidence (jsonl only).")
@click.option("-o", "--output", "target", type=NamedPath(dir_okay=False, path_type=Path),
              help="Write to this file (default: standard output).")  # fmt: skip
@store_option
def export(
    form: str,
    tables: tuple[str, ...],
    evidence: bool,
    target: Path | None,
    store_path: str | None,
) -> None:
    """Export the store as JSON lines, or one table as CSV."""
    from wardian.errors import UsageError
    from wardian.measure.store import exporting
    from wardian.measure.store.store import Store

    if form == "csv" and len(tables) > 1:
        raise UsageError("--format csv exports one --table at a time")
    with Store.open(store_path, create=False) as store:

        def write(file: Any) -> int:
            if form == "csv":
                return exporting.write_csv(store, (tables or ("results",))[0], file)
            names = list(tables or exporting.TABLES)
            return exporting.write_json_lines(store, names, file, evidence=evidence)

        if target is None:
            write(sys.stdout)
            return
        temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "w", encoding="utf-8", newline="") as file:
                count = write(file)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    output.say(f"wrote {count} rows to {target}")


@command.command(
    "prune",
    epilog="""\b
Examples:
  wardian history prune --keep 90
  wardian history prune --older-than 365d --dry-run

\b
Exit code: 0 deleted, 2 usage, 3 nothing to delete.""",
)
@click.option("--keep", type=click.IntRange(1), help="Keep the newest N.", metavar="N")
@click.option(
    "--older-than", "age", metavar="DURATION", help="Delete campaigns older than this, e.g. 90d."
)
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be deleted; delete nothing.")
@store_option
@json_option
def prune(
    keep: int | None, age: str | None, dry_run: bool, store_path: str | None, as_json: bool
) -> None:
    """Delete old campaigns. The newest finished campaign is always kept."""
    from wardian.errors import NothingMatched, UsageError
    from wardian.measure.store import merging
    from wardian.measure.store.store import Store

    if keep is None and age is None:
        raise UsageError("--keep N or --older-than DURATION is required")
    with Store.open(store_path, create=False) as store:
        gone = merging.prune(store, keep=keep, days=_days(age), dry=dry_run)
    if not gone.campaigns:
        raise NothingMatched("nothing to delete")
    if as_json:
        nights = [{"night": one.night, "campaign": one.uid} for one in gone.campaigns]
        output.print_json(
            {"schema": CHANGED_SCHEMA, "removed": nights, "results": gone.results, "dry": dry_run}
        )
    would = "would be deleted" if dry_run else "deleted"
    output.say(f"{len(gone.campaigns)} campaigns with {gone.results} results {would}")


def _days(age: str | None) -> float | None:
    from wardian.errors import UsageError

    if age is None:
        return None
    number, unit = age[:-1], age[-1:]
    if not number.isdigit() or unit not in "dwy":
        raise UsageError(
            f"--older-than: {age!r} is not a number of days, weeks or years, e.g. 90d, 12w, 1y"
        )
    return int(number) * {"d": 1, "w": 7, "y": 365}[unit]


@command.command(
    "merge",
    epilog="""\b
Examples:
  wardian history merge shard-1.sqlite shard-2.sqlite shard-3.sqlite
  wardian history merge --store all.sqlite laptop.sqlite

\b
Exit code: 0 merged, 2 usage, 125 a file is not a store (nothing is merged).""",
)
@click.argument("others", nargs=-1, required=True, type=NamedPath(exists=True, dir_okay=False))
@store_option
@json_option
def merge(others: tuple[str, ...], store_path: str | None, as_json: bool) -> None:
    """Merge other stores into this one. Shards of one campaign are joined."""
    from contextlib import ExitStack

    from wardian.errors import UsageError
    from wardian.measure.store import merging
    from wardian.measure.store.store import Store, default_path

    target = os.path.realpath(store_path or default_path())
    if target in {os.path.realpath(one) for one in others}:
        raise UsageError("cannot merge a store into itself")
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.open(one, create=False)) for one in others]
        store = stack.enter_context(Store.open(store_path))
        with store.writing():
            done = [merging.merge(store, one) for one in stores]
    campaigns, results = sum(one.campaigns for one in done), sum(one.results for one in done)
    if as_json:
        output.print_json({"schema": CHANGED_SCHEMA, "campaigns": campaigns, "results": results})
    output.say(f"{campaigns} campaigns and {results} results added to {target}")
