"""``wardian policy``: show the policy of a run, compare two, list presets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wardian.cli import output
from wardian.cli.commands import Rendered, click_options
from wardian.cli.options import POLICY_OPTIONS, Given, Option, base_policy, parse, policy_of
from wardian.text import printable

if TYPE_CHECKING:
    from wardian.sandbox.policy.difference import PolicyDifference

SCHEMA = "wardian.policy/1"
DIFF_SCHEMA = "wardian.policy-diff/1"
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
  wardian policy diff default strict.toml
  wardian policy presets""",
)
def command() -> None:
    """Show the policy of a run, compare two policies, list presets."""


def _show(args: list[str]) -> None:
    from wardian.errors import UsageError

    given, rest = parse(args, SHOW_OPTIONS)
    if rest:
        raise UsageError(f"unexpected argument {rest[0]!r}; policy show takes options only")
    policy = policy_of(given)
    if "json" in given:
        output.print_json(_document(policy))
        return
    output.print_text(
        f"# {printable(_base(given))}" + (", then options" if _changed(given) else "")
    )
    output.print_text(f"# {policy.digest}")
    for line in policy.to_toml().rstrip("\n").split("\n"):
        option = _KEYS.get(line.split(" = ")[0])
        output.print_text(line + (f"  # --{option}" if option in given else ""))


def _base(given: Given) -> str:
    """What the options are applied to."""
    from wardian.cli import settings

    name = settings.named_policy(given)
    if name is not None:
        return name
    if not settings.has_user_file() and not settings.has_project_files():
        return "default"
    from wardian.cli.configured import layered

    layers = layered({**given, "quiet": [""]})
    return "default" if len(layers) == 1 else "default, then settings (wardian config show)"


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
        help="Print the effective policy as TOML. Takes the policy options of `wardian exec`.",
        epilog="""\b
Examples:
  wardian policy show
  wardian policy show --policy strict.toml --memory 1G --json

\b
The output is a policy file: save it and pass it to --policy.""",
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
    """List the presets that ship with wardian, with descriptions."""
    from wardian.sandbox.policy.file import preset_descriptions

    found = preset_descriptions()
    if as_json:
        document = {"presets": list(found), "descriptions": found}
        output.print_json({"schema": "wardian.presets/1", **document})
        return
    width = max(map(len, found))
    for name, description in found.items():
        output.print_text(f"{name:<{width}}  {description}")


@command.command(
    "diff",
    epilog="""\b
Examples:
  wardian policy diff default strict.toml
  wardian policy diff old.toml new.toml --json

\b
Exit code: 0 equal, 1 different, 2 usage.""",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def diff(ctx: click.Context, a: str, b: str, as_json: bool) -> None:
    """List what one policy allows and the other does not.

    A and B are policy files (*.toml, or with a slash) or presets. Compares what they allow, not how
    they are written: read access to a directory includes everything in it.
    """
    from wardian.sandbox.policy.difference import differences

    policies = base_policy(a), base_policy(b)
    found = differences(*policies)
    if as_json:
        named = {
            key: {"name": output.valid(name), "digest": policy.digest}
            for key, name, policy in zip("ab", (a, b), policies, strict=True)
        }
        document = {"schema": DIFF_SCHEMA, **named, "equal": not found}
        output.print_json(document | {"differences": [one._asdict() for one in found]})
    else:
        for line in _compared(a, b, found):
            output.print_text(line)
    ctx.exit(1 if found else 0)


def _compared(a: str, b: str, found: list[PolicyDifference]) -> list[str]:
    lines = [f"A  {printable(a)}", f"B  {printable(b)}"]
    if not found:
        return [*lines, "no difference"]
    dimension = ""
    for one in found:
        if one.dimension != dimension:
            dimension = one.dimension
            lines.append(dimension)
        lines.append(f"  {printable(one.text)}")
    return lines


def _document(policy: Any) -> dict[str, Any]:
    import tomllib

    return {
        "schema": SCHEMA,
        "digest": policy.digest,
        "policy": tomllib.loads(policy.to_toml()),
    }
