"""Options that several commands of ``wardian probe`` share."""

from __future__ import annotations

import click

from wardian.cli.paths import NamedPath

probes_option = click.option(
    "--probes",
    "probes_dir",
    type=NamedPath(),
    metavar="DIR",
    help="Specimens of yours instead of those shipped.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
in_option = click.option(
    "--in",
    "sandboxes",
    default="wardian",
    metavar="NAMES",
    help="Sandboxes: wardian, bubblewrap (with wardian's filter), bubblewrap-stock, gvisor, host; "
    "several with commas.",
)
policy_option = click.option(
    "--policy", metavar="FILE|PRESET", help="Measure under this policy instead of the default."
)
