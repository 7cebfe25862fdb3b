"""``wardian report``: what was measured, as pages to look at."""

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
The pages need no network, work without JavaScript, and are better with it.
Exit code: 0 fine, 2 usage, 3 nothing in the store.""",
)
@click.option(
    "--store", "path", type=NamedPath(), metavar="PATH", help="The store; your own unless given."
)
@click.option(
    "-o",
    "--output",
    "directory",
    type=NamedPath(),
    metavar="DIR",
    default=DIRECTORY,
    show_default=True,
    help="Where the pages go.",
)
@click.option(
    "--campaign",
    default="last",
    show_default=True,
    metavar="NAME",
    help="Which one: a night (2026-01-31), an id, how its uid begins, or last.",
)
@click.option(
    "--against", metavar="NAME", help="Compare with this one; the one before it unless given."
)
@click.option("--open", "opened", is_flag=True, help="Show it in the browser.")
@click.option(
    "--serve",
    "served",
    is_flag=True,
    help="Serve it on loopback, up to date while a campaign runs, until interrupted.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="With --serve; a free one unless given.",
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
    """Draw a campaign and its history as a static site: self-contained pages in DIR.

    Overview, capabilities by sandbox, system calls, skills, suites, and a timeline over nights.
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
        output.say(f"no browser could be started; open {url}")
