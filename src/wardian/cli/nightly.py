"""``wardian nightly``: run a campaign, compare it with the last, write findings and proposals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.cli.history import store_option
from wardian.cli.options import bounded_duration
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.measure.campaign.campaign import Listener
    from wardian.measure.campaign.config import Config
    from wardian.measure.campaign.executing import Executor
    from wardian.measure.campaign.performing import Produced
    from wardian.measure.campaign.units import Unit
    from wardian.measure.nightly import Night

SCHEMA = "wardian.nightly/1"


@click.command(
    "nightly",
    epilog="""\b
Examples:
  wardian nightly
  wardian nightly --config nightly.toml --budget 30m -o evaluation --resume

\b
Exit code: 0 nothing new, 1 new findings, 2 usage or an invalid nightly.toml,
3 nothing to resume, 125 failed.""",
)
@click.option(
    "--config", "config_path", type=NamedPath(), metavar="FILE",
    help="What to measure (default: nightly.toml here, which may only narrow).",
)  # fmt: skip
@store_option
@click.option(
    "-o", "--output", "directory", type=NamedPath(file_okay=False, path_type=Path),
    default=Path("evaluation"), show_default=True, help="Write the documents to this directory.",
)  # fmt: skip
@click.option("--budget", metavar="DURATION", help="Start no new case after this time, e.g. 30m.")
@click.option("--resume", is_flag=True, help="Resume the interrupted campaign.")
@click.option("--only", multiple=True, metavar="STEP", help="Run only this step. Repeatable.")
@click.option(
    "--shard", metavar="I/N", help="Run part I of N; join parts with `wardian history merge`."
)
@click.option(
    "--campaign", "name", metavar="NAME", help="A name shared by the shards of one campaign."
)
@click.option("--jobs", type=click.IntRange(1, 256), metavar="N",
              help="Parallel jobs (default: twice the number of CPUs).")  # fmt: skip
@click.option(
    "--in", "sandboxes", metavar="NAMES",
    help="Sandboxes, comma-separated. Skills and suites run on `host` only if named here.",
)  # fmt: skip
@click.option(
    "--try-wider", is_flag=True,
    help="Also try wider policies on skills and other code that does not ship with wardian.",
)  # fmt: skip
@click.option("--executor", metavar="URL", help="Run on a Dask cluster: dask://HOST:PORT.")
@click.option(
    "--date", "night", metavar="YYYY-MM-DD", help="Date of the campaign (default: today)."
)
@click.option(
    "--open-pr", "pulls", multiple=True, type=int, metavar="N", envvar="WARDIAN_OPEN_PR",
    help="Number of an open pull request: new findings become a comment on it. Repeatable.",
)  # fmt: skip
@click.option(
    "--open-issue",
    "issues",
    multiple=True,
    type=int,
    metavar="N",
    envvar="WARDIAN_OPEN_ISSUE",
    help="Number of an open issue, likewise. Repeatable.",
)
@json_option
@quiet_option
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Measure skills, probes and suites in every sandbox, compare with the last campaign, explain
    changes and propose fixes.

    Results whose inputs did not change are reused, so an unchanged campaign is short.
    """
    ctx.exit(_run(**options))


def _run(
    *,
    config_path: str | None,
    store_path: str | None,
    directory: Path,
    budget: str | None,
    resume: bool,
    only: tuple[str, ...],
    shard: str | None,
    name: str | None,
    jobs: int | None,
    sandboxes: str | None,
    try_wider: bool,
    executor: str | None,
    night: str | None,
    pulls: tuple[int, ...],
    issues: tuple[int, ...],
    as_json: bool,
) -> int:
    from wardian.measure import nightly
    from wardian.measure.campaign.campaign import Wishes
    from wardian.measure.campaign.config import read_config
    from wardian.measure.pages.documents.decision import OpenOnes
    from wardian.measure.store.store import Store

    config = _named(read_config(config_path), jobs, sandboxes)._replace(try_wider=try_wider)
    wishes = Wishes(
        only=_steps(only),
        resume=resume,
        shard=_shard(shard),
        budget_s=bounded_duration("budget", budget, "30m")
        if budget is not None
        else config.budget_s,
        night=_night(night),
        name=name or "",
    )
    progress = Progress("nightly", bad="unexpected")
    performing = _executor(executor, config)
    try:
        with (
            interruptible(
                lambda: (
                    f"{progress.done} of {progress.total} measurements are in the store;"
                    " go on: the same command with --resume"
                )
            ),
            progress,
            Store.open(store_path) as store,
        ):
            done = nightly.run(
                store, config, wishes, output=str(directory), executor=performing,
                open_ones=OpenOnes(pulls, issues), listener=_listener(progress),
            )  # fmt: skip
    finally:
        performing.close()
    return _report(done, directory, as_json=as_json)


def _report(done: Night, directory: Path, *, as_json: bool) -> int:
    from wardian.measure.pages.documents.evaluation import headline

    campaign, decision = done.facts.campaign, done.decision
    if as_json:
        output.print_json(
            {
                "schema": SCHEMA,
                "campaign": campaign.uid,
                "night": campaign.night,
                "state": campaign.state,
                "headline": headline(done.facts),
                "decision": decision.action,
                "reason": decision.reason,
                "findings": [
                    {"severity": one.severity, "slug": one.slug, "title": one.title}
                    for one in done.facts.findings
                ],
                "files": [str(directory / name) for name in done.files],
                "skipped": [{"step": step, "why": why} for step, why in done.skipped],
            }
        )
    else:
        output.print_text(f"{campaign.night}: {headline(done.facts)}")
        for one in done.facts.findings:
            proposal = one.document.get("proposal") or {}
            mended = "  (verified patch available)" if proposal.get("verified") else ""
            output.print_text(f"  {one.severity:<8} {one.title}{mended}")
        output.print_text(f"{decision.action}: {decision.reason}")
    for step, why in done.skipped:
        output.say(f"warning: {step}: {why}")
    if done.files:
        output.say(f"wrote {len(done.files)} documents to {directory}/")
    return 0 if decision.action == "noop" else 1


def _named(config: Config, jobs: int | None, sandboxes: str | None) -> Config:
    """The configuration, overridden by the command line."""
    from wardian.measure.target import HOST, check_targets

    if jobs is not None:
        config = config._replace(jobs=jobs)
    if sandboxes is not None:
        names = check_targets(sandboxes)
        config = config._replace(sandboxes=names, host_named=HOST in names)
    return config


def _steps(only: Sequence[str]) -> tuple[str, ...]:
    from wardian.errors import UsageError
    from wardian.measure.campaign.campaign import STEPS

    names = [name for one in only for name in one.split(",")]
    for name in names:
        if name not in STEPS:
            raise UsageError(f"--only: unknown step {name!r}", hint=f"steps: {', '.join(STEPS)}")
    return tuple(names)


def _shard(text: str | None) -> tuple[int, int]:
    from wardian.errors import UsageError

    if text is None:
        return 1, 1
    found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--shard: {text!r} is not I/N, e.g. 1/3")
    return int(found[1]), int(found[2])


def _night(text: str | None) -> str:
    from datetime import date

    from wardian.errors import UsageError

    if text is None:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"--date: {text!r} is not a date (YYYY-MM-DD)") from None


def _executor(url: str | None, config: Config) -> Executor:
    from wardian.errors import UsageError
    from wardian.measure.campaign.executing import Local

    if url is None:
        return Local(config.jobs)
    if not url.startswith("dask://"):
        raise UsageError(f"--executor: {url!r} is not dask://HOST:PORT")
    from wardian.measure.campaign.cluster import Dask

    return Dask(url.removeprefix("dask://"))


def _listener(progress: Progress) -> Listener:
    from wardian.measure.campaign.campaign import Listener

    def done(unit: Unit, known: bool, produced: Sequence[Produced]) -> None:
        if not known:
            bad = any(one.outcome.health in ("bad", "broken") for one in produced)
            progress.advance(bad=bad)

    return Listener(
        lambda units: progress.plan(len(units)), done, lambda text: progress.show(note=text)
    )
