"""``wardian report``: write measurements as a static website."""

from __future__ import annotations

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

SCHEMA = "wardian.report/1"
DIRECTORY = "report"


@click.command(
    "report",
    epilog="""\b
Examples:
  wardian report -o report --open
  wardian report --store nightly.sqlite --serve

\b
The pages need no network and work without JavaScript.
Exit code: 0 success, 2 usage, 3 nothing in the store.""",
)
@click.option(
    "--store", "path", type=NamedPath(), metavar="PATH", help="The store (default: your own)."
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=NamedPath(),
    metavar="DIR",
    default=DIRECTORY,
    show_default=True,
    help="Write the pages to this directory.",
)
@click.option(
    "--campaign",
    default="last",
    show_default=True,
    metavar="NAME",
    help="The campaign: a date (2026-01-31), an ID or a prefix of it, or last.",
)
@click.option(
    "--against", metavar="NAME", help="Compare with this campaign (default: the one before)."
)
@click.option("--open", "opened", is_flag=True, help="Open the report in a browser.")
@click.option(
    "--serve",
    "served",
    is_flag=True,
    help="Serve the report on loopback until Ctrl-C; follows a running campaign.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port for --serve (default: a free one).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@quiet_option
def command(
    path: str | None,
    directory: str,
    campaign: str,
    against: str | None,
    opened: bool,
    served: bool,
    port: int,
    as_json: bool,
) -> None:
    """Write a campaign and its history as self-contained HTML pages in DIR.

    Pages: overview, capabilities by sandbox, system calls, skills, suites, timeline.
    """
    from wardian.measure.store.store import Store

    with Store.open(path, create=False) as store:
        if served:
            from wardian.measure.pages import serving

            serving.serve(store, campaign, against, port, lambda url: _serving(url, opened))
            return
        from wardian.measure.pages import facts, site

        progress = Progress("report", len(site.PAGES), unit=" pages")
        kept = "{} of {} pages are new; run it again"
        with interruptible(lambda: kept.format(progress.done, progress.total)), progress:
            found = facts.read(store, campaign, against)
            pages = site.write(found, directory, progress.reach)
    if as_json:
        output.print_json(
            {
                "schema": SCHEMA,
                "campaign": found.campaign.uid,
                "night": found.campaign.night,
                "against": found.previous.uid if found.previous else None,
                "pages": [{"name": one.name, "path": one.path, "bytes": one.size} for one in pages],
            }
        )
    else:
        size = sum(one.size for one in pages)
        output.say(f"{len(pages)} pages, {size / 1e6:.1f} MB: open {pages[0].path}")
    if opened:
        _open(pages[0].path)


def _serving(address: str, opened: bool) -> None:
    output.say(f"the report is at {address} until you press Ctrl-C")
    if opened:
        _open(address)


def _open(place: str) -> None:
    import os
    import webbrowser

    from wardian.sandbox.root.programs import system_path

    os.environ["PATH"] = system_path(os.environ)  # in which browsers are looked for

    url = place if "://" in place else "file://" + os.path.abspath(place)
    if not webbrowser.open(url):
        output.say(f"cannot start a browser; open {url}")
