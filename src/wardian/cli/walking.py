"""All commands with their subcommands and options, for the man page and completion scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click


class Node(NamedTuple):
    """``path`` is ``policy show``; ``summary`` one line; ``words`` its subcommands."""

    path: str
    command: click.Command
    summary: str
    options: tuple[click.Option, ...]
    words: tuple[str, ...]


def walk() -> list[Node]:
    """Every command, in the order of ``wardian --help``."""
    from wardian.cli.commands import COMMANDS, group

    context = click.Context(group, info_name="wardian")
    found: list[Node] = []
    for name, (_, line) in COMMANDS.items():
        command = group.get_command(context, name)
        if command is not None:
            found += _below(name, command, context, line)
    return found


def _below(path: str, command: click.Command, outer: click.Context, summary: str) -> Iterator[Node]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=outer)
    options = tuple(
        option
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden
    )
    words = tuple(command.list_commands(context)) if isinstance(command, click.Group) else ()
    yield Node(path, command, summary, options, words)
    for word in words:
        inner = command.get_command(context, word) if isinstance(command, click.Group) else None
        if inner is not None:
            line = inner.get_short_help_str(100)
            yield from _below(f"{path} {word}", inner, context, line)
