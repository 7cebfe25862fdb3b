"""``wardian log``: recorded runs, as a list or one in full."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath

if TYPE_CHECKING:
    from wardian.observe.journal import JournalEntry

SHOWN = 20
NOTHING_MATCHED = 3
_DIR = click.option(
    "--dir",
    "given",
    type=NamedPath(),
    metavar="DIR",
    help="The directory of records (default: from your settings).",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


@click.group(
    "log",
    invoke_without_command=True,
    epilog="""\b
Examples:
  wardian log
  wardian log --dir runs --failed -n 5
  wardian log show last --output

\b
Runs are recorded with --record DIR, with WARDIAN_RECORD=DIR, or with
[record] dir = "DIR" in ~/.config/wardian/config.toml.
Exit code: 0 success, 2 usage, 3 nothing matches.""",
)
@_DIR
@_JSON
@click.option("-n", "count", type=click.IntRange(1), default=SHOWN, show_default=True,
              metavar="N", help="List at most N runs.")  # fmt: skip
@click.option("--failed", is_flag=True, help="Only runs with another exit code than 0.")
@click.pass_context
def command(ctx: click.Context, given: str | None, as_json: bool, count: int, failed: bool) -> None:
    """List recorded runs, newest first.

    The first column is the ID of a run; any unique prefix of it works too.
    """
    ctx.obj = given
    if ctx.invoked_subcommand is None:
        _list(_directory(given), count, failed=failed, as_json=as_json)


@command.command(
    "show",
    epilog="""\b
Examples:
  wardian log show last
  wardian log show k3f --output --json

\b
Exit code: 0 success, 2 usage, 3 no such run.""",
)
@click.argument("run", metavar="ID")
@_DIR
@click.option("--output", "with_output", is_flag=True, help="Also print the command's output.")
@_JSON
@click.pass_obj
def show(outer: str | None, run: str, given: str | None, with_output: bool, as_json: bool) -> None:
    """Show one run in full. ID is its ID, a unique prefix of it, or `last`."""
    from wardian.cli import log_page
    from wardian.observe import journal

    entry = journal.find(_directory(given if given is not None else outer), run)
    result = journal.read_result(entry)
    printed = _printed(entry) if with_output else {}
    if as_json:
        output.print_json(_whole(entry, result, printed))
        return
    for line in log_page.page(entry, result):
        output.print_text(line)
    for name, data in printed.items():
        for line in log_page.printed(name, data):
            output.print_text(line)


@command.command(
    "prune",
    epilog="""\b
Examples:
  wardian log prune --older 30d
  wardian log prune --keep 500 --older 7d --dry-run

\b
Exit code: 0 removed, 2 usage, 3 nothing to remove.""",
)
@_DIR
@click.option("--older", metavar="DURATION", help="Remove runs older than this, e.g. 30d or 12h.")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the N newest.")
@click.option("--dry-run", is_flag=True, help="Print what would be removed; remove nothing.")
@_JSON
@click.pass_obj
def prune(
    outer: str | None,
    given: str | None,
    older: str | None,
    keep: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove old records. With both options, a record must be older and not among the newest.

    Runs in progress are kept. Incomplete records of killed runs are removed like others.
    """
    from wardian.errors import NothingMatched, UsageError
    from wardian.observe import journal

    if older is None and keep is None:
        raise UsageError("--older DURATION or --keep N is required")
    directory = _directory(given if given is not None else outer)
    names = journal.chosen(directory, older_s=_age(older), keep=keep, now_s=time.time())
    left = {} if dry_run else {name: journal.remove(directory, name) for name in names}
    gone = [name for name in names if left.get(name) is None]
    if as_json:
        document = {
            "schema": "wardian.log-prune/1",
            "dir": output.valid(directory),
            "dry_run": dry_run,
            "removed": [name.removesuffix(journal.RUNNING) for name in gone],
            "left": {name: why for name, why in left.items() if why is not None},
        }
        output.print_json(document)
        click.get_current_context().exit(0 if gone else NOTHING_MATCHED)
    for name, why in left.items():
        if why is not None:
            output.say(f"wardian: kept {name}: {why}")
    if not gone:
        raise NothingMatched("nothing to remove", hint=f"{directory} has no older records")
    if dry_run:
        output.say(f"wardian: {len(gone)} would be removed")
    else:
        output.say(f"wardian: {len(gone)} removed")


def _age(older: str | None) -> float | None:
    from wardian.errors import UsageError
    from wardian.sandbox.policy.units import parse_duration

    if older is None:
        return None
    try:
        seconds = parse_duration(older)
    except ValueError as error:
        raise UsageError(f"--older: {error}") from None
    if seconds is None:
        raise UsageError("--older: must be a duration, e.g. 30d or 12h")
    return seconds


def _directory(given: str | None) -> str:
    """The directory of records. Raises UsageError if none is configured."""
    from wardian.cli.settings import record_directory
    from wardian.errors import UsageError

    if given is not None:
        path = os.path.abspath(os.path.expanduser(given))
        if not given or not os.path.isdir(path):
            raise UsageError(f"--dir: {given!r} is not a directory")
        return path
    path_or_none = record_directory(None)
    if path_or_none is None:
        raise UsageError(
            "no directory of records is configured",
            hint="name it with --dir, or set WARDIAN_RECORD; runs are recorded with --record DIR",
        )
    return path_or_none


# The list


def _list(directory: str, count: int, *, failed: bool, as_json: bool) -> None:
    from wardian.cli import log_page
    from wardian.errors import NothingMatched

    found = list(islice(_matching(directory, failed=failed), count))
    if as_json:
        runs = [_summary(entry) for entry in found]
        output.print_json({"schema": "wardian.log/1", "dir": output.valid(directory), "runs": runs})
        click.get_current_context().exit(0 if found else NOTHING_MATCHED)
    for line in log_page.table(found, _width()):
        output.print_text(line)
    if not found:
        kind = "failed run" if failed else "run"
        raise NothingMatched(
            f"no {kind} is recorded in {directory}", hint="record runs with --record DIR"
        )


def _matching(directory: str, *, failed: bool) -> Iterator[JournalEntry]:
    from wardian.observe import journal

    for entry in journal.entries(directory):
        end = (entry.document or {}).get("end") or {}
        if not failed or (entry.state != "running" and end.get("exit_code") != 0):
            yield entry


def _summary(entry: JournalEntry) -> dict[str, Any]:
    document = entry.document or {}
    end = document.get("end") or {}
    return {
        "id": entry.id,
        "state": entry.state,
        "path": output.valid(entry.path),
        **{key: document.get(key) for key in ("started", "ended", "kind", "command", "skill")},
        **{key: end.get(key) for key in ("exit_code", "reason", "wall_s", "refusals", "error")},
    }


def _width() -> int | None:
    """The width of the terminal; None if stdout is not a terminal."""
    import shutil
    import sys

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


# One run


def _printed(entry: JournalEntry) -> dict[str, bytes]:
    from wardian.observe import journal

    found = {}
    for name in journal.OUTPUTS:
        data = journal.read_file(entry, name, journal.MAX_RESULT_BYTES)
        if data is not None:
            found[name] = data
    return found


def _whole(
    entry: JournalEntry, result: dict[str, Any] | None, printed: dict[str, bytes]
) -> dict[str, Any]:
    import base64

    document: dict[str, Any] = {
        "schema": "wardian.log-show/1",
        "id": entry.id,
        "state": entry.state,
        "path": output.valid(entry.path),
        "record": entry.document,
        "result": result,
    }
    for name, data in printed.items():
        document[name] = data.decode("utf-8", "replace")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            document[f"{name}_base64"] = base64.b64encode(data).decode("ascii")
    return document
