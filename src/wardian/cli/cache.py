"""``wardian cache``: list, measure and remove prepared packages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.runner.packages.inventory import CacheEntry

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


@click.group(
    "cache",
    epilog="""\b
Examples:
  wardian cache list
  wardian cache prune --older-than 30d

\b
Packages are stored in $XDG_CACHE_HOME/wardian (~/.cache/wardian).
Exit code: 0 success, 1 something could not be removed, 2 usage.""",
)
def command() -> None:
    """Show and remove packages prepared for runs."""


@command.command(
    "path",
    epilog="""\b
Examples:
  wardian cache path
  du -sh "$(wardian cache path)"

\b
Exit code: 0 success, 2 usage.""",
)
@_JSON
@quiet_option
def path(as_json: bool) -> None:
    """Print the cache directory."""
    from wardian.runner.packages import cabinet

    if as_json:
        document = {"schema": "wardian.cache-path/1", "path": output.valid(cabinet.cache())}
        output.print_json(document)
    else:
        output.print_text(cabinet.cache())


@command.command(
    "list",
    epilog="""\b
Examples:
  wardian cache list
  wardian cache list --all --json

\b
Exit code: 0 success, 2 usage.""",
)
@click.option("--all", "every", is_flag=True, help="Also list wheels, archives and leftovers.")
@_JSON
@quiet_option
def list_(every: bool, as_json: bool) -> None:
    """List prepared environments, most recently used first.

    Files shared between an environment and an unpacked wheel count towards the wheel.
    """
    from wardian.runner.packages import cabinet, inventory

    with Progress("cache list", unit=" entries") as progress:
        listed = inventory.entries(progress.reach)
    found = [one for one in listed if every or one.kind == "environment"]
    if as_json:
        document = {"path": output.valid(cabinet.cache()), "entries": [*map(_as_json, found)]}
        output.print_json({"schema": "wardian.cache-list/1", **document})
        return
    for one in found:
        output.print_text(_line(one))
    if not found:
        output.say("wardian: no packages have been prepared yet")


@command.command(
    "size",
    epilog="""\b
Examples:
  wardian cache size
  wardian cache size --json

\b
Exit code: 0 success, 2 usage.""",
)
@_JSON
@quiet_option
def size(as_json: bool) -> None:
    """Print the disk space used by the cache, by kind."""
    from wardian.runner.packages import cabinet, inventory
    from wardian.sandbox.policy.units import human_bytes

    kinds: dict[str, list[int]] = {}
    with Progress("cache size", unit=" entries") as progress:
        listed = inventory.entries(progress.reach)
    for one in listed:
        kinds.setdefault(one.kind, []).append(one.bytes)
    total = sum(map(sum, kinds.values()))
    if as_json:
        counted = {kind: {"count": len(all_), "bytes": sum(all_)} for kind, all_ in kinds.items()}
        document = {"path": output.valid(cabinet.cache()), "bytes": total, "kinds": counted}
        output.print_json({"schema": "wardian.cache-size/1", **document})
        return
    for kind, all_ in kinds.items():
        output.print_text(f"{human_bytes(sum(all_)):>10}  {len(all_):>5}  {kind}")
    output.print_text(f"{human_bytes(total):>10}  {sum(map(len, kinds.values())):>5}  total")


@command.command(
    "prune",
    epilog="""\b
Examples:
  wardian cache prune
  wardian cache prune --older-than 30d
  wardian cache prune --all --dry-run

\b
Exit code: 0 success, 1 something could not be removed, 2 usage.""",
)
@click.option(
    "--older-than",
    metavar="DURATION",
    help="Also remove environments not used for this long, e.g. 30d or 12h.",
)
@click.option("--all", "every", is_flag=True, help="Remove everything.")
@click.option("--dry-run", is_flag=True, help="List what would be removed; remove nothing.")
@_JSON
@quiet_option
@click.pass_context
def prune(
    ctx: click.Context, older_than: str | None, every: bool, dry_run: bool, as_json: bool
) -> None:
    """Remove unused packages: wheels and archives of no environment, and leftovers.

    Packages in use by a run or a preparation are kept.
    """
    from wardian.errors import UsageError
    from wardian.runner.packages import inventory
    from wardian.sandbox.policy.units import human_bytes

    if every and older_than is not None:
        raise UsageError("--all and --older-than cannot be combined")
    older_s = _age(older_than)

    def choose(found: Sequence[CacheEntry]) -> list[CacheEntry]:
        return inventory.to_remove(found, time.time(), older_s=older_s, every=every)

    left: dict[str, str] = {}
    progress = Progress("cache prune", unit=" entries")
    with interruptible("what was removed is gone, the rest is whole; run it again"), progress:
        if dry_run:
            gone = choose(inventory.entries(progress.reach))
        else:
            gone, left = inventory.remove(choose, progress.say)
    freed = sum(one.bytes for one in gone)
    if as_json:
        document = {"dry_run": dry_run, "bytes": freed, "removed": [*map(_as_json, gone)]}
        shown = {output.valid(place): why for place, why in left.items()}
        output.print_json({"schema": "wardian.cache-prune/1", **document, "left": shown})
    else:
        for one in gone if dry_run else ():
            output.print_text(_line(one))
        for place, why in left.items():
            output.say(f"wardian: kept {place}: {why}")
        done = "would be removed" if dry_run else "removed"
        output.say(f"wardian: {len(gone)} {done}, {human_bytes(freed)}")
    in_use = sum(why == "a run is using it" for why in left.values())
    ctx.exit(1 if len(left) > in_use else 0)


def _age(text: str | None) -> float | None:
    from wardian.errors import UsageError
    from wardian.sandbox.policy.units import parse_duration

    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--older-than: {error}") from None
    if seconds is None:
        raise UsageError("--older-than: must be a duration, e.g. 30d or 12h")
    return seconds


def _as_json(one: CacheEntry) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "name": one.name,
        "path": output.valid(one.path),
        "about": output.valid(one.about),
        "last_used": round(one.used_s, 3),
        "bytes": one.bytes,
    }


def _line(one: CacheEntry) -> str:
    from wardian.sandbox.policy.units import human_bytes
    from wardian.text import printable

    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.used_s))
    short = one.name[:12]
    return f"{used}  {human_bytes(one.bytes):>9}  {one.kind:11}  {short:12}  {printable(one.about)}"
