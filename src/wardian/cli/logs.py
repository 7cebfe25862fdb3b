"""``wardian logs``: output of background commands, and how each command ended."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from wardian.cli import output
from wardian.errors import NothingMatched

if TYPE_CHECKING:
    from wardian.living.wire import Channel


@click.command(
    "logs",
    epilog="""\b
Examples:
  wardian logs dev
  wardian logs dev --follow --command 3

\b
Exit code: 0 success, 2 usage, 3 no such sandbox.""",
)
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the sandbox ends.")
@click.option(
    "--command", "number", type=click.IntRange(1), help="Only the command with this number."
)
def command(name: str, follow: bool, number: int | None) -> None:
    """Print the output of background commands in sandbox NAME, and when each command started and
    ended.

    The last 1 MiB is kept. After the sandbox ends, its log stays for a week, or until the name is
    used again.
    """
    from wardian.living.client import connect
    from wardian.living.names import checked_name

    checked_name(name)
    try:
        channel = connect(name)
    except NothingMatched:
        lines = _left(name)
        if lines is None:
            raise
        for line in lines:
            if number is None or f" [{number}] " in line:
                output.print_text(line)
        return
    _print(channel, name, follow=follow, number=number)


def _print(channel: Channel, name: str, *, follow: bool, number: int | None) -> None:
    from wardian.living.client import ask
    from wardian.living.wire import field

    fields = [field("command", number or 0)] + ([field("follow", 1)] if follow else [])
    try:
        message = ask(channel, "log", [*fields, field("first", 1)], name=name)
        channel.sock.settimeout(None)
        while message is not None and message.kind == "entry":
            output.print_text(os.fsdecode(message.all("line")[0]))
            sys.stdout.flush()
            message = channel.receive()  # type: ignore[assignment]
    finally:
        channel.close()


def _left(name: str) -> list[str] | None:
    """The log of an ended sandbox, if there still is one."""
    from wardian.living.directory import LOG, SocketDirectory

    try:
        with SocketDirectory() as directory:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(f"{name}{LOG}", flags, dir_fd=directory.fd)
        with open(fd, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return None
