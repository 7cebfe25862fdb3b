"""``wardian probe diff | require | blame``: compare, require and explain outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wardian.cli import output
from wardian.cli.paths import NamedPath
from wardian.cli.probe_options import json_option, policy_option, probes_option
from wardian.cli.progress import Progress, interruptible
from wardian.cli.quiet import quiet_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wardian.measure.probes.artifact import Artifact

REQUIRE_SCHEMA = "wardian.probe-require/1"
_directory = NamedPath(exists=True, file_okay=False, path_type=Path)


@click.command(
    "diff",
    epilog="""\b
Examples:
  wardian probe diff artifacts-yesterday artifacts
  wardian probe diff artifacts/bubblewrap artifacts/wardian --json

\b
Exit code: 0 no changes, 1 outcomes changed or disappeared, 2 usage, 125 not artifacts.""",
)
@click.argument("old", type=_directory)
@click.argument("new", type=_directory)
@json_option
@click.pass_context
def diff(ctx: click.Context, old: Path, new: Path, as_json: bool) -> None:
    """Compare two directories of artifacts.

    An outcome changed if the probe is allowed in one and blocked in the other, or its status
    differs. Two directories of one sandbox each are compared even if the sandboxes differ.
    """
    from wardian.measure.probes import artifact, comparing

    found = comparing.differences(artifact.read_all(str(old)), artifact.read_all(str(new)))
    if as_json:
        output.print_json(comparing.document(found))
    else:
        for line in comparing.lines(found):
            output.print_text(line)
    flips = sum(one.counts for one in found)
    output.say(f"{flips} changed or missing, {len(found) - flips} other differences")
    ctx.exit(1 if flips else 0)


@click.command(
    "require",
    epilog="""\b
Examples:
  wardian probe require network_loopback process_spawn
  wardian probe require network_loopback --from artifacts --in bubblewrap

\b
Exit code: 0 all available, 1 some are not, 2 usage, 3 no such capability.""",
)
@click.argument("capabilities", nargs=-1, required=True, metavar="CAPABILITY...")
@click.option(
    "--from", "source", type=_directory, help="Use these artifacts (default: measure now)."
)
@click.option(
    "--in", "sandbox", default="wardian", metavar="NAME", show_default=True, help="The sandbox."
)
@policy_option
@probes_option
@json_option
@click.pass_context
def require(
    ctx: click.Context,
    capabilities: tuple[str, ...],
    source: Path | None,
    sandbox: str,
    policy: str | None,
    probes_dir: str | None,
    as_json: bool,
) -> None:
    """Exit with 0 if a sandbox has these capabilities. For use in scripts."""
    from wardian.errors import UsageError
    from wardian.measure.probes import artifact
    from wardian.measure.probes.comparing import holding

    if "," in sandbox:
        raise UsageError("--in: one sandbox at a time")
    if source is not None:
        found: Sequence[Artifact] = artifact.read_all(str(source))
    else:
        found = _measured(capabilities, sandbox, policy, probes_dir)
    held = [holding(name, sandbox, found) for name in dict.fromkeys(capabilities)]
    if as_json:
        output.print_json(
            {"schema": REQUIRE_SCHEMA, "capabilities": [one._asdict() for one in held]}
        )
    else:
        for one in held:
            output.print_text(
                f"{'yes' if one.holds else 'no '}  {one.capability}  {one.why}".rstrip()
            )
    ctx.exit(0 if all(one.holds for one in held) else 1)


def _measured(
    names: Sequence[str], sandbox: str, policy: str | None, probes_dir: str | None
) -> Sequence[Artifact]:
    from wardian.cli.probe import targets_of
    from wardian.measure.probes.running import measure
    from wardian.measure.probes.specimen import choose_capabilities, find_specimens
    from wardian.measure.probes.specimen import probes_dir as place
    from wardian.measure.probes.witnesses import witnesses

    chosen = choose_capabilities(find_specimens(place(probes_dir)), names)
    with witnesses() as env:
        targets, expected = targets_of(sandbox, policy, (), probes_dir)
        return measure(chosen, targets, env, profiles=expected, host_named=True)


@click.command(
    "blame",
    epilog="""\b
Examples:
  wardian probe blame core__kernel__mount
  wardian probe blame 'core__network__*' --json

\b
Exit code: 0 explained, 1 some could not be explained, 2 usage, 3 nothing matches.""",
)
@click.argument("patterns", nargs=-1, required=True, metavar="ID...")
@policy_option
@click.option(
    "--launcher", type=NamedPath(), metavar="FILE", help="A launcher that can omit walls."
)
@click.option("--no-launcher", is_flag=True, help="Only remove walls that a policy can give up.")
@click.option(
    "--in", "named", type=click.Choice(["host"]),
    help="host: also run your own probes on the bare host.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print every wall that was tried.")
@probes_option
@json_option
@quiet_option
@click.pass_context
def blame(
    ctx: click.Context,
    patterns: tuple[str, ...],
    policy: str | None,
    launcher: str | None,
    no_launcher: bool,
    named: str | None,
    verbose: bool,
    probes_dir: str | None,
    as_json: bool,
) -> None:
    """Find the wall that blocks a probe, by removing walls one at a time.

    If no single wall is responsible, each wall is tried alone. Probes that ship with wardian also
    run on the bare host.
    """
    from wardian.cli.options import base_policy
    from wardian.cli.probe import chosen
    from wardian.errors import UsageError
    from wardian.measure.blame import launcher_for_tests
    from wardian.measure.probes import blame as blaming
    from wardian.measure.probes.specimen import probes_dir as place
    from wardian.measure.probes.specimen import ships
    from wardian.measure.probes.witnesses import witnesses

    bare = named is not None
    alone = no_launcher or not (bare or launcher or ships(place(probes_dir)))
    able = None if alone else launcher_for_tests(launcher)
    if launcher is not None and able is None and not no_launcher:
        raise UsageError(f"--launcher: {launcher} is not an executable")
    found, wanted = [], chosen(probes_dir, patterns, ())
    progress = Progress("probe blame", len(wanted), unit=" probes")
    with interruptible("what was printed holds; run the rest by ID"), progress, witnesses() as env:
        for one in wanted:
            progress.show(note=one.id)
            found.append(
                blaming.blame(one, base_policy(policy), env, launcher=able, host_named=bare)
            )
            progress.advance()
            progress.clear()
            for line in () if as_json else blaming.lines(found[-1], verbose=verbose):
                output.print_text(line)
    if as_json:
        output.print_json(blaming.document(found))
    ctx.exit(0 if all(one.certain for one in found) else 1)
