"""``wardian policy``: the policy that a run would get, and the presets that ship."""

from __future__ import annotations

from typing import Any

import click

from wardian.cli import output
from wardian.cli.commands import Rendered, click_options
from wardian.cli.options import POLICY_OPTIONS, Given, Option, parse, policy_of
from wardian.text import printable

SCHEMA = "wardian.policy/1"
SHOW_OPTIONS = (
    *POLICY_OPTIONS,
    Option("json", "", "One JSON document on stdout."),
    Option("help", "", "Show this message and exit.", short="h"),
)


@click.group(
    "policy",
    epilog="""\b
Examples:
  wardian policy show --policy strict.toml --net host
  wardian policy presets""",
)
def command() -> None:
    """Show the policy that a run would get."""


def _show(args: list[str]) -> None:
    from wardian.errors import UsageError

    given, rest = parse(args, SHOW_OPTIONS)
    if rest:
        raise UsageError(f"{rest[0]!r} is one word too many; policy show takes options only")
    policy = policy_of(given)
    if "json" in given:
        output.print_json(_document(policy))
        return
    base = given["policy"][0] if "policy" in given else "default"
    output.print_text(f"# {printable(base)}" + (", then options" if _changed(given) else ""))
    output.print_text(f"# {policy.digest}")
    for line in policy.to_toml().rstrip("\n").split("\n"):
        option = _KEYS.get(line.split(" = ")[0])
        output.print_text(line + (f"  # --{option}" if option in given else ""))


# key of a policy file → the option that changes it
_KEYS = {key: key for key in ("work", "read", "write", "degrade")} | {"mode": "net", "set": "env"}
_KEYS |= {key: key for key in ("time", "cpu", "memory", "processes", "files", "disk", "output")}


def _changed(given: Given) -> bool:
    return any(option in given for option in _KEYS.values())


command.add_command(
    Rendered(
        "show",
        callback=_show,
        params=click_options(SHOW_OPTIONS),
        help="Print the effective policy as TOML: the file or preset, then the options of exec.",
        epilog="""\b
Examples:
  wardian policy show
  wardian policy show --policy strict.toml --memory 1G --json

\b
What it prints can be saved and given back with --policy.""",
        add_help_option=False,
    )
)


@command.command(
    "presets",
    epilog="""\b
Examples:
  wardian policy presets
  wardian policy presets --json""",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def presets(as_json: bool) -> None:
    """List the presets that ship with wardian."""
    from wardian.sandbox.policy_file import preset_names

    if as_json:
        output.print_json({"schema": "wardian.presets/1", "presets": preset_names()})
    else:
        for name in preset_names():
            output.print_text(name)


def _document(policy: Any) -> dict[str, Any]:
    import tomllib

    return {
        "schema": SCHEMA,
        "digest": policy.digest,
        "policy": tomllib.loads(policy.to_toml()),
    }
