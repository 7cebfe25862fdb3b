"""The policy options of ``exec`` for commands that click parses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wardian.cli.options import POLICY_OPTIONS, Given, policy_of

if TYPE_CHECKING:
    from wardian.sandbox.policy.policy import Policy

# Each case has its own /work and uses the host's interpreters.
_NOT_HERE = ("work", "rootfs")
TABLE = tuple(option for option in POLICY_OPTIONS if option.name not in _NOT_HERE)
PREFIX = "grant_"


def policy_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; their values are keyword arguments that start with ``grant_``."""
    import click

    for option in reversed(TABLE):
        function = click.option(
            f"--{option.name}",
            PREFIX + option.name.replace("-", "_"),
            metavar=option.metavar or None,
            is_flag=not option.metavar,
            multiple=option.several,
            help=option.described,
        )(function)
    return function


def granted_policy(values: Mapping[str, Any]) -> Policy:
    """The policy of these flags. Raises UsageError and PolicyError."""
    return policy_of(given_flags(values))


def given_flags(values: Mapping[str, Any]) -> Given:
    """These flags in the form of ``options.parse``."""
    given: Given = {}
    for option in TABLE:
        value = values[PREFIX + option.name.replace("-", "_")]
        if value:
            given[option.name] = list(value) if option.several else [str(value)]
        elif value == "":
            given[option.name] = [""]
    return given
