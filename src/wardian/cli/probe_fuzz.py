"""``wardian probe fuzz``: find system calls that a sandbox answers differently from the kernel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option, policy_option
from wardian.cli.progress import Progress
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from wardian.measure.fuzz.campaign import Bounds
    from wardian.measure.fuzz.state import State
    from wardian.measure.target import Target

DEFAULT_SECONDS = 60.0


@click.command(
    "fuzz",
    epilog="""\b
Examples:
  wardian probe fuzz --seconds 300
  wardian probe fuzz --in bubblewrap --calls network,ipc --count 5000 --seed 7

\b
Exit code: 0 nothing new, 1 new differences, 2 usage, 3 no such call, 125 cannot run here.""",
)
@click.option(
    "--in",
    "sandbox",
    default="wardian",
    metavar="NAME",
    show_default=True,
    help="The sandbox: wardian, bubblewrap, gvisor or host.",
)
@click.option("--seconds", type=click.FloatRange(min=0.1), metavar="S",
              help="Stop after S seconds (default: 60, unless --count is given).")  # fmt: skip
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after N programs.")
@click.option("--seed", type=click.IntRange(min=0, max=(1 << 63) - 1), metavar="N",
              help="Seed, to repeat a campaign (default: random).")  # fmt: skip
@click.option("--calls", metavar="NAMES", help="Only these calls or groups, comma-separated.")
@click.option("--resume", type=NamedPath(), metavar="FILE|DIR", help="Resume from this state.")
@click.option(
    "--artifacts",
    default="artifacts",
    type=NamedPath(),
    metavar="DIR",
    show_default=True,
    help="Write the state to this directory.",
)
@click.option(
    "--out",
    "-o",
    type=NamedPath(),
    metavar="DIR",
    help="Write probes for new differences to this directory (default: probes).",
)
@policy_option
@json_option
@quiet_option
@click.pass_context
def fuzz(
    ctx: click.Context,
    sandbox: str,
    seconds: float | None,
    count: int | None,
    seed: int | None,
    calls: str | None,
    resume: str | None,
    artifacts: str,
    out: str | None,
    policy: str | None,
    as_json: bool,
) -> None:
    """Run short programs of system calls on the host and in a sandbox, and report differences.

    Differences explained by the policy are counted by reason. Others are confirmed, minimised and
    written as new probes.
    """
    from wardian.measure.fuzz import campaign, specimens
    from wardian.measure.fuzz import state as documents
    from wardian.sandbox.host import this_host

    out = out or _default_out()
    specimens.check_place(out)
    state = _state(ctx, sandbox, seed, calls, resume)
    name = f"{state.sandbox}-{state.seed}.json"
    path = resume if resume and os.path.isfile(resume) else None
    path = path or os.path.join(resume or os.path.join(artifacts, "fuzz"), name)
    setting = _target(state.sandbox, policy)
    bounds = campaign.Bounds(seconds, count)
    if seconds is None and count is None:
        bounds = campaign.Bounds(DEFAULT_SECONDS, None)
    output.say(f"seed {state.seed}, from program {state.position}, in {state.sandbox}")
    interrupted = False
    progress = Progress("probe fuzz")
    step = _stepping(progress, bounds, state.position)
    try:
        with progress, campaign.FuzzCampaign(setting, state, out, this_host().arch) as running:
            running.run(bounds, step, path)
    except KeyboardInterrupt:
        interrupted = True
    if as_json:
        output.print_json(documents.document(state, out, path))
    else:
        _report(state)
    output.say(f"{'interrupted; ' if interrupted else ''}resume with: --resume {path}")
    ctx.exit(130 if interrupted else 1 if state.news else 0)


def _state(
    ctx: click.Context, sandbox: str, seed: int | None, calls: str | None, resume: str | None
) -> State:
    """A new state, or the one to resume. Raises UsageError, InputError, NothingMatched."""
    from click.core import ParameterSource

    from wardian.errors import UsageError
    from wardian.measure.fuzz import state
    from wardian.sandbox.backends import NAMES

    if resume is not None:
        given = [name for name in ("sandbox", "seed", "calls")
                 if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]  # fmt: skip
        if given:
            raise UsageError("--resume cannot be combined with --in, --seed or --calls")
        return state.load(resume)
    if sandbox not in NAMES:
        raise UsageError(f"unknown sandbox {sandbox!r}", hint=f"sandboxes: {', '.join(NAMES)}")
    wanted = [one for one in (calls or "").split(",") if one]
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "big")
    return state.State(sandbox, seed, wanted)


def _target(sandbox: str, policy: str | None) -> Target:
    from wardian.cli.options import base_policy
    from wardian.measure.target import target

    found = target(sandbox, base_policy(policy))
    if found.degraded:
        output.say(f"{found.name} does not support: {', '.join(found.degraded)}")
    return found


def _default_out() -> str:
    """The repository's probes; for an installed wardian, ``probes`` in the current directory."""
    from wardian.measure.probes.specimen import HERE, shipped

    return (
        "probes"
        if os.path.isdir(os.path.join(HERE, "data"))
        else os.path.realpath(shipped("probes"))
    )


def _report(state: State) -> None:
    programs = state.counts["programs"]
    rate = programs / state.seconds if state.seconds else 0
    output.print_text(
        f"{programs} programs, {state.executed_calls} calls in {state.seconds:.1f} s"
        f" ({rate:.0f} programs a second)"
    )
    for kind in ("same", "explained", "known", "unstable", "repeated", "news"):
        if state.counts[kind]:
            output.print_text(f"  {kind:10} {state.counts[kind]}")
    if state.explained:
        output.print_text("\nexplained:")
    for (wall, reason), count in state.explained.most_common():
        output.print_text(f"  {count:6}  {wall}: {reason}")
    for one in state.news.values():
        output.print_text(
            f"\nnew: {one['signature']}  ({one['count']} programs, {one['specimen']})"
        )
        if one["detail"]:
            output.print_text(f"  {one['detail']}")
        for place in ("host", "sandbox"):
            for line in one[place]:
                output.print_text(f"  {place:8} {line}")


def _stepping(progress: Progress, bounds: Bounds, first: int) -> Callable[[State, float], None]:
    """Shows how many programs were tried, and the share of the bound that is nearest."""

    def step(state: State, seconds: float) -> None:
        done = state.position - first
        detail = f"{done} programs, {done / max(seconds, 0.001):.0f}/s"
        if state.news:
            detail += f", {len(state.news)} new"
        shares = [
            seconds / bounds.seconds if bounds.seconds else 0.0,
            done / bounds.programs if bounds.programs else 0.0,
        ]
        progress.show(detail=detail, share=max(shares))

    return step
