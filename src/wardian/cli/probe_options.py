"""Options shared by several measuring commands."""

from __future__ import annotations

import click

from wardian.cli.paths import NamedPath

probes_option = click.option(
    "--probes",
    "probes_dir",
    type=NamedPath(),
    metavar="DIR",
    help="Use the probes in DIR (default: those that ship with wardian).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
in_option = click.option(
    "--in",
    "sandboxes",
    default="wardian",
    metavar="NAMES",
    show_default=True,
    help="Sandboxes, comma-separated: wardian, bubblewrap (with wardian's filter), "
    "bubblewrap-stock, gvisor, host.",
)
policy_option = click.option(
    "--policy", metavar="FILE|PRESET", help="Measure under this policy (default: default)."
)
