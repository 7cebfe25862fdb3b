"""``wardian down``: end living sandboxes and wait until they are gone."""

from __future__ import annotations

import json
from typing import Any

import click

from wardian.cli import output
from wardian.errors import SandboxError, UsageError, WardianError
from wardian.text import cut, shell_word

END_S = 60.0
COMMAND_WIDTH = 80


@click.command(
    "down",
    epilog="""\b
Examples:
  wardian down dev
  wardian down --all

\b
Exit code: 0 ended, 2 usage, 3 no such sandbox, 125 one could not be ended.""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="End all of your sandboxes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(names: tuple[str, ...], every: bool, as_json: bool) -> None:
    """End living sandboxes and every process in them.

    Returns once they are gone, and prints the commands that were still running.
    """
    if every == bool(names):
        raise UsageError("name a sandbox, or give --all", hint="list them: wardian ps")
    from wardian.living.client import sandbox_names
    from wardian.living.names import checked_name

    for name in names:
        checked_name(name)
    ended, failed = [], list[WardianError]()
    for name in dict.fromkeys(sandbox_names() if every else names):
        try:
            ended.append({"name": name, "commands": _end(name)})
        except WardianError as error:
            failed.append(error)
            continue
        if not as_json:
            _say(ended[-1])
    if as_json:
        output.print_json({"schema": "wardian.down/1", "ended": ended})
    elif every and not ended and not failed:
        output.say("wardian: no sandbox is running")
    for each in failed[:-1]:
        output.say_error(str(each), each.hint)
    if failed:
        raise failed[-1]


def _end(name: str) -> list[dict[str, Any]]:
    """The commands that were still running. Raises WardianError."""
    from wardian.living.client import answer, ask, connect

    channel = connect(name)
    try:
        running: list[dict[str, Any]] = json.loads(ask(channel, "down", name=name).text("commands"))
        channel.sock.settimeout(END_S)
        if answer(channel, name).kind != "gone":
            raise SandboxError(f"the sandbox {name} did not end")
        channel.receive()  # until its process closes the connection
    except OSError as error:
        raise SandboxError(f"the sandbox {name} did not end within a minute: {error}") from None
    finally:
        channel.close()
    return running


def _say(ended: dict[str, Any]) -> None:
    commands = [
        cut(" ".join(map(shell_word, one["command"])), COMMAND_WIDTH) for one in ended["commands"]
    ]
    if not commands:
        output.say(f"wardian: {ended['name']} has ended")
        return
    count = f"{len(commands)} command{'s' if len(commands) != 1 else ''}"
    output.say(f"wardian: {ended['name']} has ended; killed {count} still running:")
    for line in commands:
        output.say(f"  {line}")
